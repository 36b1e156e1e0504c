/** `AUDIT_DURABILITY=strict`: when a client has a response, a kill cannot lose its record. */
import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { AuditRecord } from "../../../src/audit/record/record.ts";
import { readAuditRecords } from "../../support/audit-records.ts";
import { makeDatabase } from "../../support/postgres-database.ts";
import { describeWith } from "../../support/services.ts";
import { createFolder, removeFolders } from "./folder.ts";
import { killAll, serve, type Serving } from "./program.ts";

const withPostgres = await describeWith("postgres");
const CLIENTS = 8;
const LONG = 240_000;

let v4: Server;
let env: Record<string, string>;

beforeEach(async () => {
  v4 = createServer((_request, response) => {
    response.setHeader("content-type", "application/json");
    response.end('{"data":[],"page":1,"pages":1,"results":0}');
  }).listen(0, "127.0.0.1");
  await once(v4, "listening");
  const url = `http://127.0.0.1:${(v4.address() as AddressInfo).port}`;
  env = { UPSTREAM_URL: url, AUDIT_DURABILITY: "strict", RATE_LIMIT: "1000000/1", LOG_LEVEL: "silent" };
});

afterEach(async () => {
  await killAll();
  v4.closeAllConnections();
  v4.close();
  removeFolders();
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
  "SQLite has the record of every response after 20 kills",
  async () => {
    const folder = createFolder();
    const respondedIds = await killUnderLoad(20, folder);

    const database = new DatabaseSync(join(folder, "audit.db"));
    const intact = database.prepare("PRAGMA integrity_check").get();
    const counted = database.prepare("SELECT sum(requests) AS requests FROM audit_usage").get();
    database.close();
    const records = await readAuditRecords({ folder });
    expect(respondedIds.length).toBeGreaterThanOrEqual(20 * CLIENTS);
    expect(missing(respondedIds, records)).toEqual([]);
    expect(intact).toEqual({ integrity_check: "ok" });
    expect(counted).toEqual({ requests: records.length });
  },
  LONG,
);

withPostgres("with a server", () => {
  test(
    "PostgreSQL has the record of every response after 10 kills",
    async () => {
      const database = await makeDatabase();
      try {
        env["DATABASE_URL"] = database.url;
        const respondedIds = await killUnderLoad(10, createFolder());
        await killAll();
        const records = await readAuditRecords({ url: database.url });
        expect(respondedIds.length).toBeGreaterThanOrEqual(10 * CLIENTS);
        expect(missing(respondedIds, records)).toEqual([]);
      } finally {
        await database.drop();
      }
    },
    LONG,
  );
});

function missing(respondedIds: readonly string[], records: readonly AuditRecord[]): string[] {
  const ids = new Set(records.map(({ requestId }) => requestId));
  return respondedIds.filter((id) => !ids.has(id));
}
