/** What the console's charts and tables count. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import express, { type Express } from "express";
import request from "supertest";
import { openSqliteStore } from "../../src/audit/store/sqlite/store.ts";
import type { AuditStore } from "../../src/audit/store/store.ts";
import { CLIENTS_FILE, NO_CLIENTS } from "../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../src/base/files/operator-file.ts";
import { createUsageApi } from "../../src/console/usage-api.ts";
import { sampleId, sampleRecord } from "../audit/record/sample-record.ts";
import { temporaryFolder } from "../support/ends-with-test.ts";

const ANNA = "0123456789abcdef";
const directory = temporaryFolder();
let store: AuditStore;
let app: Express;

beforeAll(async () => {
  const options = { directory, durability: "strict", retentionDays: 36_500, sizeLimit: 1e9 } as const;
  store = await openSqliteStore(options);
  await store.append(sampleRecord(sampleId(1), { time: "2026-03-01T10:00:00.000Z" }));
  await store.append(sampleRecord(sampleId(2), { time: "2026-03-02T10:00:00.000Z", status: 400 }));
  await store.append(sampleRecord(sampleId(3), { time: "2026-03-02T11:00:00.000Z", client: null }));
});
beforeEach(() => {
  app = express().use("/api/usage", createUsageApi(store, { directory: () => NO_CLIENTS, quietDays: 7 }));
});
afterAll(async () => {
  await store.close();
});

const read = async (path: string) => (await request(app).get(`/api/usage/${path}`)).body;

test("clients with a token are listed by fingerprint, those without one as one client", async () => {
  expect(await read("clients")).toMatchObject({
    clients: [
      { client: ANNA, requests: 2, errors: 1, native: 0, name: null, state: "silent" },
      { client: null, requests: 1, errors: 0, name: null, state: null },
    ],
  });
});

test("routes and days can be filtered by client, and by requests without a token", async () => {
  expect((await read(`routes?client=${ANNA}`)).routes).toHaveLength(2);
  expect((await read("routes?client=none")).routes).toMatchObject([{ client: null, requests: 1 }]);
  expect((await read(`days?client=${ANNA}`)).days).toMatchObject([
    { day: "2026-03-01", alpha: 1 },
    { day: "2026-03-02", alpha: 1, errors: 1 },
  ]);
  expect((await read("days?since=2026-03-02")).days).toHaveLength(1);
});

test("a client can be given by its name, which its rows have", async () => {
  const directory = parseOperatorFile(
    { file: "clients.yaml", text: `anna:\n  tokens: ["${ANNA}"]\nother: {}\n` },
    CLIENTS_FILE,
  );
  app = express().use("/api/usage", createUsageApi(store, { directory: () => directory, quietDays: 7 }));
  expect((await read("clients")).clients).toMatchObject([{ client: ANNA, name: "anna" }, { name: null }]);
  expect((await read("routes?client=anna")).routes).toHaveLength(2);
  expect((await read("routes?client=other")).routes).toEqual([]);
  expect((await read("days?client=anna&lane=native")).days).toEqual([]);
  expect(await read("routes?client=nobody")).toMatchObject({ errors: [{ parameter: "client" }] });
});

test("a client that came back is named with the day, by all keys of its name", async () => {
  const now = Date.now();
  const put = (id: string, daysAgo: number, client: string, lane: "alpha" | "native") =>
    store.append(
      sampleRecord(id, { client, lane, time: new Date(now - daysAgo * 86_400_000).toISOString() }),
    );
  const [old, fresh] = ["00000000000000aa", "00000000000000bb"];
  await put("back-1", 60, old, "alpha");
  await put("back-2", 40, fresh, "native");
  await put("back-3", 2, old, "alpha");
  const day = new Date(now - 2 * 86_400_000).toISOString().slice(0, 10);
  const directory = parseOperatorFile(
    { file: "clients.yaml", text: `team:\n  tokens: ["${old}", "${fresh}"]\n` },
    CLIENTS_FILE,
  );
  const cameBack = async (query = "") =>
    ((await read(`clients${query}`)).clients as { client: string | null; cameBack: string | null }[])
      .filter(({ cameBack }) => cameBack !== null)
      .map(({ client, cameBack }) => `${client} ${cameBack}`)
      .toSorted();
  expect(await cameBack()).toEqual([]);
  app = express().use("/api/usage", createUsageApi(store, { directory: () => directory, quietDays: 7 }));
  expect(await cameBack()).toEqual([`${old} ${day}`, `${fresh} ${day}`]);
  expect(await cameBack("?client=team&since=2026-03-02")).toEqual([`${old} ${day}`, `${fresh} ${day}`]);
});

describe("invalid usage queries", () => {
  test.each([
    ["clients?client=me", "client"],
    ["routes?status=200", "status"],
    ["days?limit=5", "limit"],
    ["days?since=yesterday", "since"],
    ["days?colour=red", "colour"],
  ])("%s is rejected by name", async (path, parameter) => {
    expect(await read(path)).toMatchObject({ errors: [{ parameter }] });
  });

  test("every query gets 404 if auditing is off", async () => {
    app = express().use(
      "/api/usage",
      createUsageApi(undefined, { directory: () => NO_CLIENTS, quietDays: 7 }),
    );
    const { status, body } = await request(app).get("/api/usage/clients");
    expect([status, body.errors[0].reason]).toEqual([404, expect.stringContaining("AUDIT=off")]);
  });
});
