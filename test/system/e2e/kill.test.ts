/** `AUDIT_DURABILITY=strict`: when a client has a response, a kill cannot lose its record. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { beforeEach, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { readAuditRecords } from "../../support/audit-records.ts";
import { envelope, json, startFakeV4 } from "../../support/fake-v4.ts";
import { makeDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";
import { temporaryFolder } from "../../support/ends-with-test.ts";
import { serve, type Serving } from "./program.ts";

const withPostgres = await describeWith("postgres");
const CLIENTS = 8;
const LONG = 240_000;

let env: Record<string, string>;

beforeEach(async () => {
  const v4 = await startFakeV4();
  v4.respondWith(json(200, envelope([])));
  env = { UPSTREAM_URL: v4.url, AUDIT_DURABILITY: "strict", RATE_LIMIT: "1000000/1", LOG_LEVEL: "silent" };
});

/** Sends requests without a pause until the gateway is gone; collects the ids of those that got a response. */
async function askOn(gateway: Serving, name: string, respondedIds: string[]): Promise<void> {
  for (let n = 0; ; n += 1) {
    const id = `${name}-${n}`;
    const authorization = n % 2 === 0 ? "token abc" : "Bearer abc";
    const headers = { authorization, "x-request-id": id };
    const status = await fetch(`${gateway.url}/v4/vm/instances`, { headers }).then(
      async (response) =>
        response.text().then(
          () => response.status,
          () => undefined,
        ),
      () => undefined,
    );
    if (status === undefined) return;
    expect(status).toBe(200);
    respondedIds.push(id);
  }
}

/** Kills a gateway under load this many times with the same store; returns the ids of all requests that got a response. */
async function killUnderLoad(times: number, folder: string): Promise<string[]> {
  const respondedIds: string[] = [];
  let next = serve(folder, { env });
  next.catch(() => {});
  for (let round = 0; round < times; round += 1) {
    const gateway = await next;
    // The next one starts while this one is under load, since a start takes long.
    if (round + 1 < times) next = serve(folder, { env });
    next.catch(() => {});
    const before = respondedIds.length;
    const clients = Array.from({ length: CLIENTS }, (_, client) =>
      askOn(gateway, `${round}-${client}`, respondedIds),
    );
    while (respondedIds.length < before + CLIENTS) await wait(1);
    await wait(Math.random() * 100);
    gateway.signal("SIGKILL");
    await Promise.all(clients);
    await gateway.ended;
  }
  return respondedIds;
}

test(
  "SQLite has the record of every response after 10 kills",
  async () => {
    const folder = temporaryFolder();
    const respondedIds = await killUnderLoad(10, folder);

    const database = new DatabaseSync(join(folder, "audit.db"));
    const intact = database.prepare("PRAGMA integrity_check").get();
    const counted = database.prepare("SELECT sum(requests) AS requests FROM audit_usage").get();
    database.close();
    const records = await readAuditRecords({ folder });
    expect(respondedIds.length).toBeGreaterThanOrEqual(10 * CLIENTS);
    expect(missing(respondedIds, records)).toEqual([]);
    expect(intact).toEqual({ integrity_check: "ok" });
    expect(counted).toEqual({ requests: records.length });
  },
  LONG,
);

withPostgres("with a server", () => {
  test(
    "PostgreSQL has the record of every response after 5 kills",
    async () => {
      const database = await makeDatabase();
      env["DATABASE_URL"] = database.url;
      const respondedIds = await killUnderLoad(5, temporaryFolder());
      const records = await readAuditRecords({ url: database.url });
      expect(respondedIds.length).toBeGreaterThanOrEqual(5 * CLIENTS);
      expect(missing(respondedIds, records)).toEqual([]);
    },
    LONG,
  );
});

function missing(respondedIds: readonly string[], records: readonly AuditRecord[]): string[] {
  const ids = new Set(records.map(({ requestId }) => requestId));
  return respondedIds.filter((id) => !ids.has(id));
}
