/**
 * How long "who would notice" takes over a store of many records: milliseconds of the first run, and the median of all.
 *
 * Usage: node bench/impact.ts [RECORDS (default: 2 000 000)] [FOLDER, which is kept and used again]
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RecentBytes } from "../src/audit/store/sender-bytes.ts";
import { createRecordIds } from "../src/audit/record/record-id.ts";
import type { AuditRecord } from "../src/audit/record/record.ts";
import { RecordMemory } from "../src/audit/record/record-memory.ts";
import { serializeRecord } from "../src/audit/record/record-text.ts";
import { createBatch } from "../src/audit/store/segment.ts";
import { NumberedNames } from "../src/audit/record/numbered-names.ts";
import { AUDIT_FILE, openSqliteStore } from "../src/audit/store/sqlite/store.ts";
import { openSqliteDriver } from "../src/audit/store/sqlite/driver.ts";
import { createJobs } from "../src/audit/store/sql/jobs.ts";
import { columnsOf } from "../src/audit/store/record-row.ts";
import { dayNumber } from "../src/audit/usage/usage.ts";
import { NO_CLIENTS } from "../src/audit/clients/client-directory.ts";
import { loadPack } from "../src/pack/load/load-pack.ts";
import {
  findNotices,
  findQuestions,
  namesOfRoutes,
  type Subject,
} from "../src/migration/impact/who-would-notice.ts";
import { median } from "./report.ts";

const GROUP = 5000;
const DAYS = 90;
const DAY_MS = 86_400_000;
const CLIENTS = 1000;
const ROUTES_OF_CLIENT = 12;
const RUNS = 7;
const pack = loadPack("mappings");
const routes = [...pack.sentNames];

/** Low numbers most often, as in production. */
const uneven = (count: number): number => Math.floor(count * Math.random() ** 3);

/** A request of one of many clients, with some of the names of its route. Each client uses a few routes. */
function recordAt(time: number, id: string): AuditRecord {
  const client = uneven(CLIENTS);
  const [route, { names }] = routes[(client * 7 + uneven(ROUTES_OF_CLIENT)) % routes.length] ?? [
    "",
    { names: [] },
  ];
  const bits = new Uint8Array(Math.ceil(names.length / 8));
  for (let index = 0; index < names.length; index += 1)
    if ((client + index) % 3 === 0) bits[index >> 3] = (bits[index >> 3] ?? 0) | (0x80 >> (index & 7));
  return {
    id,
    time: new Date(time).toISOString(),
    lane: "alpha",
    requestId: id,
    client: {
      fingerprint: client.toString(16).padStart(16, "0"),
      accepted: true,
      userAgent: `agent/${client}`,
      address: "192.0.2.1",
    },
    alpha: { method: "GET", path: "/", route, query: "", filter: null, status: 200 },
    v4: [],
    losses: [],
    warnings: [],
    timings: { total: 20, upstream: 12.5, translation: 7.5 },
    bytes: { in: 0, out: 300 },
    ...(names.length > 0 && { sent: new NumberedNames(names, bits) }),
  };
}

/** Writes records in batches, as the gateway does, spread over the days up to now. */
async function fill(file: string, count: number): Promise<void> {
  const jobs = createJobs(openSqliteDriver({ file, synchronous: "NORMAL" }));
  let time = Date.now() - DAYS * DAY_MS;
  const nextId = createRecordIds(() => Math.floor(time));
  const memory = new RecordMemory();
  const day = dayNumber(Date.now());
  const counted = routes.flatMap(([route, { names }]) => names.map((name) => ({ route, name, day })));
  for (let done = 0; done < count; done += GROUP) {
    const rows = Array.from({ length: Math.min(GROUP, count - done) }, () => {
      time += (DAYS * DAY_MS) / count;
      const record = recordAt(Math.floor(time), nextId());
      return { ...columnsOf(record, record.client.address), ...memory.write(serializeRecord(record)) };
    });
    await jobs.write({ ...createBatch(rows, new RecentBytes()), counted: done === 0 ? counted : [] });
    if (done % 100_000 === 0) process.stderr.write(`\r${done} records`);
  }
  process.stderr.write("\r");
  await jobs.close();
}

async function timed(name: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  process.stdout.write(
    `${name.padEnd(44)} ${(times[0] ?? 0).toFixed(0).padStart(6)} ${median(times).toFixed(0).padStart(6)} ms\n`,
  );
}

const [count = "2000000", kept] = process.argv.slice(2);
const directory = kept ?? mkdtempSync(join(tmpdir(), "bench-impact-"));
mkdirSync(directory, { recursive: true });
const file = join(directory, AUDIT_FILE);
if (!existsSync(file)) await fill(file, Number(count));
const options = {
  directory,
  durability: "relaxed",
  retentionDays: 36_500,
  sizeLimit: Number.MAX_SAFE_INTEGER,
} as const;
const store = await openSqliteStore(options);
const names = namesOfRoutes(pack);
const context = { store, directory: NO_CLIENTS };
const notice = (subject: Subject) => () => findNotices(findQuestions(subject, names), context);
const [busy = "", ...others] = routes.map(([route]) => route);
await timed("a route", notice({ route: busy }));
await timed("a member of a route", notice({ route: "POST /vm/instances", field: "body.label" }));
await timed("ten routes", () => store.callers({ routes: others.slice(0, 10) }));
await timed("a member of all routes", notice({ field: "label" }));
await timed("all routes", () => store.callers({ routes: [busy, ...others] }));
await store.close();
if (kept === undefined) rmSync(directory, { recursive: true, force: true });
