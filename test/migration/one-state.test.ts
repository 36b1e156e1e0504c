/** One client, and whether it is ready: the console, the report, notices, its own page and the command line say the same. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import express from "express";
import request from "supertest";
import { runCommandLine } from "../../src/app/cli/program.ts";
import { NO_CLIENTS } from "../../src/audit/clients/client-directory.ts";
import { openSqliteStore } from "../../src/audit/store/sqlite/store.ts";
import type { AuditStore } from "../../src/audit/store/store.ts";
import { createUsageApi } from "../../src/console/usage-api.ts";
import { createClientReader } from "../../src/migration/notices/read-clients.ts";
import { readClientPage } from "../../src/migration/page/client-page.ts";
import { NO_PLAN_IN_FORCE } from "../../src/migration/plan/plan-in-force.ts";
import { createReport } from "../../src/migration/report/make-report.ts";
import { sampleRecord } from "../audit/record/sample-record.ts";
import { UNLIMITED } from "../audit/store/store-contract.ts";
import { temporaryFolder } from "../support/ends-with-test.ts";
import { packIn } from "../support/packs.ts";
import { captureCommands } from "../support/command-output.ts";

const QUIET_DAYS = 7;
const DAY_MS = 86_400_000;
const pack = packIn("mappings");
const printed = captureCommands();

describe.each([
  [
    "a job that pauses for 30 days, 10 days after its last alpha call",
    "00000000000000aa",
    [40, 10],
    "moving",
  ],
  [
    "a client without a longer pause, 10 days after its last alpha call",
    "00000000000000bb",
    [14, 10],
    "ready",
  ],
  ["a job that pauses for 30 days, 31 days after its last alpha call", "00000000000000cc", [61, 31], "ready"],
])("%s", (_, client, alphaDays, state) => {
  const folder = temporaryFolder();
  const now = Date.now();
  let store: AuditStore;
  beforeAll(async () => {
    store = await openSqliteStore({ ...UNLIMITED, directory: folder, durability: "strict" });
    const put = (lane: "alpha" | "native", daysAgo: number) =>
      store.append(
        sampleRecord(`${lane}-${daysAgo}`, {
          client,
          lane,
          accepted: true,
          time: new Date(now - daysAgo * DAY_MS).toISOString(),
        }),
      );
    for (const days of alphaDays) await put("alpha", days);
    for (const days of [3, 1]) await put("native", days);
  });
  afterAll(async () => {
    await store.close();
  });

  test(`is ${state} wherever people read it`, async () => {
    const app = express().use(createUsageApi(store, { directory: () => NO_CLIENTS, quietDays: QUIET_DAYS }));
    const read = async (path: string) => (await request(app).get(path)).body;
    const report = await createReport({ store, pack, query: {}, now, quietDays: QUIET_DAYS });
    const notices = await createClientReader(store, () => NO_CLIENTS, QUIET_DAYS)(now);
    const caller = { kind: "token", fingerprint: client, application: undefined } as const;
    const sources = { store, pack, plan: NO_PLAN_IN_FORCE, quietDays: QUIET_DAYS };
    const page = await readClientPage(caller, undefined, sources, now);
    expect(await runCommandLine(["clients", `--data-dir=${folder}`])).toBe(0);
    const row = printed()
      .split("\n")
      .find((line) => line.includes(client));
    expect({
      clients: (await read("/clients")).clients[0].state,
      groups: (await read("/groups")).groups[0].state,
      calls: (await read("/calls")).calls[0].state,
      tokens: (await read(`/members?client=${client}`)).tokens[0].state,
      report: report.clients[0]?.readiness,
      done: report.totals.done,
      notices: notices[0]?.state,
      page: page.state,
      command: row?.trim().split(/ {2,}/)[1],
    }).toEqual({
      clients: state,
      groups: state,
      calls: state,
      tokens: state,
      report: state,
      done: state === "ready" ? 1 : 0,
      notices: state,
      page: state,
      command: state,
    });
  });
});
