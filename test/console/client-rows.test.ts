/** Clients as rows of the console: names, applications, and families of user agents. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import express, { type Express } from "express";
import request from "supertest";
import { openSqliteStore } from "../../src/audit/store/sqlite/store.ts";
import type { AuditStore } from "../../src/audit/store/store.ts";
import { CLIENTS_FILE } from "../../src/audit/clients/client-directory.ts";
import { parseOperatorFile } from "../../src/base/files/operator-file.ts";
import { createUsageApi } from "../../src/console/usage-api.ts";
import { temporaryFolder } from "../support/ends-with-test.ts";
import { sampleId, sampleRecord } from "../audit/record/sample-record.ts";

const NAMED = "00000000000000aa";
const CURL = ["00000000000000b1", "00000000000000b2", "00000000000000b3"] as const;
const PHONE = ["00000000000000c1", "00000000000000c2"] as const;
const DAY_MS = 86_400_000;
const NOW = Date.now();
const daysAgo = (days: number): string => new Date(NOW - days * DAY_MS).toISOString();
const dayOf = (time: string): string => time.slice(0, 10);

const folder = temporaryFolder();
const directory = parseOperatorFile(
  { file: "clients.yaml", text: `billing:\n  tokens: ["${NAMED}"]\n` },
  CLIENTS_FILE,
);
let store: AuditStore;
let app: Express;

beforeAll(async () => {
  const options = { directory: folder, durability: "strict", retentionDays: 36_500, sizeLimit: 1e9 } as const;
  store = await openSqliteStore(options);
  let number = 0;
  const put = (varied: Parameters<typeof sampleRecord>[1]) =>
    store.append(sampleRecord(sampleId((number += 1)), { accepted: true, ...varied }));
  const native = { lane: "native", route: null } as const;
  await put({ client: NAMED, agent: "billing-sync/1", time: daysAgo(1) });
  // One family: one token has moved, one uses both and one is silent.
  await put({ client: CURL[0], agent: "curl/8.1", time: daysAgo(40), ...native });
  await put({ client: CURL[0], agent: "curl/8.1", time: daysAgo(2), route: "GET /dns/zones" });
  await put({ client: CURL[0], agent: "curl/8.1", time: daysAgo(2), route: "GET /dns/zones", status: 404 });
  await put({ client: CURL[1], agent: "curl/7.2 (linux)", time: daysAgo(3), ...native });
  await put({ client: CURL[2], agent: "CURL/7.2", time: daysAgo(90) });
  await put({ client: CURL[2], agent: "curl/7.2", time: daysAgo(60) });
  for (const client of PHONE)
    await put({ client, application: "phone-app", agent: `phone/${client}`, time: daysAgo(1) });
  // A scanner, and somebody without a token.
  await put({ client: "00000000000000dd", accepted: false, agent: "nikto", status: 401, time: daysAgo(1) });
  await put({ client: null, accepted: false, agent: "curl/8.1", time: daysAgo(1) });
});
beforeEach(() => {
  app = express().use("/api/usage", createUsageApi(store, { directory: () => directory, quietDays: 7 }));
});
afterAll(async () => {
  await store.close();
});

const read = async (path: string) => (await request(app).get(`/api/usage/${path}`)).body;
const idsOf = async (path: string): Promise<string[]> =>
  (await read(path)).groups.map(({ id }: { id: string }) => id);

describe("rows of clients", () => {
  test("are names, else applications, else families of user agents", async () => {
    const { groups, total } = await read("groups");
    const rows = groups.map(({ id, name, family, state, requests, tokens }: Record<string, unknown>) => ({
      id,
      name,
      family,
      state,
      requests,
      tokens,
    }));
    expect(rows).toEqual([
      { id: "agent:curl", name: null, family: "curl", state: "moving", requests: 6, tokens: 3 },
      { id: "application:phone-app", name: null, family: null, state: "not begun", requests: 2, tokens: 2 },
      ...["none", "billing", "unaccepted"].map((id) => expect.objectContaining({ id, requests: 1 })),
    ]);
    expect(total).toBe(5);
  });

  test("open to their tokens, each with its own state", async () => {
    const statesOf = async (id: string) =>
      Object.fromEntries(
        (await read(`members?client=${encodeURIComponent(id)}`)).tokens.map(
          ({ fingerprint, state }: { fingerprint: string; state: string }) => [fingerprint, state],
        ),
      );
    expect(await statesOf("agent:curl")).toEqual({
      [CURL[0]]: "moving",
      [CURL[1]]: "ready",
      [CURL[2]]: "silent",
    });
    expect(await statesOf("application:phone-app")).toEqual({
      [PHONE[0]]: "not begun",
      [PHONE[1]]: "not begun",
    });
    expect(await statesOf("billing")).toEqual({ [NAMED]: "not begun" });
    expect(await statesOf("none")).toEqual({});
    expect(await read("members")).toMatchObject({ errors: [{ parameter: "client" }] });
  });

  test("count the requests of a period, and have the state of today", async () => {
    const { groups } = await read(`groups?since=${dayOf(daysAgo(6))}`);
    expect(groups.find(({ id }: { id: string }) => id === "agent:curl")).toMatchObject({
      requests: 3,
      state: "moving",
      tokens: 3,
    });
    const old = await read(`groups?since=${dayOf(daysAgo(95))}&until=${dayOf(daysAgo(50))}`);
    expect(old.groups).toMatchObject([
      { id: "agent:curl", requests: 2, state: "moving", lastAlpha: daysAgo(2) },
    ]);
    expect((await read("groups?lane=native")).groups).toMatchObject([
      { id: "agent:curl", requests: 2, native: 2, state: "moving" },
    ]);
  });

  test("select their requests in other queries", async () => {
    expect((await read("routes?client=agent:curl")).routes).toHaveLength(5);
    expect((await read("routes?client=agent:wget")).routes).toEqual([]);
    expect(await idsOf("groups?client=agent:curl")).toEqual(["agent:curl"]);
  });
});

describe("a search", () => {
  test.each([
    ["BILL", ["billing"]],
    ["phone-app", ["application:phone-app"]],
    ["agent by version: curl/8", ["agent:curl"]],
    ["00000000000000c2", ["application:phone-app"]],
    ["00000000000000b", ["agent:curl"]],
    ["nikto", []],
    ["%", []],
    ["nobody", []],
  ])("for %s finds %j", async (text, ids) => {
    const search = text.replace("agent by version: ", "");
    expect(await idsOf(`groups?search=${encodeURIComponent(search)}`)).toEqual(ids);
  });

  test("narrows each query of usage, also of one client", async () => {
    expect((await read("routes?search=phone")).routes).toHaveLength(1);
    expect((await read("days?search=nobody")).days).toEqual([]);
    expect((await read("routes?search=curl&client=billing")).routes).toEqual([]);
    expect((await read(`routes?search=curl&client=${CURL[1]}`)).routes).toHaveLength(1);
  });

  test("that is too long is rejected", async () => {
    expect(await read(`groups?search=${"x".repeat(201)}`)).toMatchObject({
      errors: [{ parameter: "search" }],
    });
    expect(await read("groups?search=a&search=b")).toMatchObject({ errors: [{ parameter: "search" }] });
  });
});

describe("calls", () => {
  test("say who calls which route, those with the most requests first, without what strangers were refused", async () => {
    const { calls, total } = await read("calls");
    expect(calls.map(({ id, route, requests }: Record<string, unknown>) => [id, route, requests])).toEqual([
      ["agent:curl", "GET /dns/zones", 2],
      ["agent:curl", "GET /vm/instances", 2],
      ["application:phone-app", "GET /vm/instances", 2],
      ["billing", "GET /vm/instances", 1],
      ["none", "GET /vm/instances", 1],
    ]);
    expect(total).toBe(5);
    expect(calls[0]).toMatchObject({ errors: 1, last: daysAgo(2), state: "moving" });
  });

  test("are those of one route, of one client, and of a period", async () => {
    expect((await read("calls?route=GET%20/dns/zones")).calls).toMatchObject([{ id: "agent:curl" }]);
    expect((await read("calls?client=agent:curl")).calls).toHaveLength(2);
    expect((await read(`calls?until=${dayOf(daysAgo(50))}`)).calls).toMatchObject([
      { id: "agent:curl", route: "GET /vm/instances", requests: 2 },
    ]);
    expect(await read("calls?status=200")).toMatchObject({ errors: [{ parameter: "status" }] });
  });
});
