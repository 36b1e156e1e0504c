import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRecordIds } from "../src/audit/record/record-id.ts";
import type { AuditRecord } from "../src/audit/record/record.ts";
import { exportTexts } from "../src/audit/export/export-records.ts";
import { AUDIT_FILE, openSqliteStore } from "../src/audit/store/sqlite/store.ts";
import { RecentBytes } from "../src/audit/store/sender-bytes.ts";
import { createBatch } from "../src/audit/store/segment.ts";
import { openSqliteDriver } from "../src/audit/store/sqlite/driver.ts";
import { createJobs } from "../src/audit/store/sql/jobs.ts";
import type { AuditQuery, AuditStore } from "../src/audit/store/store.ts";
import { loadPack } from "../src/pack/load/load-pack.ts";
import { FORMATS } from "../src/migration/report/formats.ts";
import { createReport } from "../src/migration/report/make-report.ts";
import { RecordMemory } from "../src/audit/record/record-memory.ts";
import { serializeRecord } from "../src/audit/record/record-text.ts";
import { columnsOf } from "../src/audit/store/record-row.ts";

const GROUP = 5000;
const DAYS = 30;
const DAY_MS = 86_400_000;
const CLIENTS = 40;
const pack = loadPack("mappings");
const ROUTES = pack.routes.map(({ name }) => name);
const AGAIN = 5;

/** Picks clients and routes unevenly, as in production: low numbers most often. */
function uneven(count: number): number {
  return Math.floor(count * Math.random() ** 3);
}

function recordAt(time: number, id: string): AuditRecord {
  const client = uneven(CLIENTS);
  const native = client % 5 === 4;
  const route = ROUTES[uneven(ROUTES.length)] ?? null;
  const status = Math.random() < 0.97 ? 200 : Math.random() < 0.9 ? 404 : 420;
  const path = "/v4/vm/instances";
  const body = { vms: Array.from({ length: 3 }, (_, n) => ({ id: n, label: `vm-${n}`, status: "running" })) };
  return {
    id,
    time: new Date(time).toISOString(),
    lane: native ? "native" : "alpha",
    requestId: id,
    client: {
      fingerprint: client.toString(16).padStart(16, "0"),
      userAgent: `agent/${client}`,
      address: "192.0.2.1",
    },
    alpha: {
      method: "GET",
      path,
      route: native ? null : route,
      query: "page=1",
      filter: null,
      status,
      ...(!native && { response: body }),
    },
    v4: [{ method: "GET", path, filter: null, status, ms: 12.5, ...(!native && { response: body }) }],
    losses: native ? [] : ["total_transfer: no such figure"],
    warnings: [],
    timings: { total: 20, upstream: 12.5, translation: 7.5 },
    bytes: { in: 0, out: 300 },
  };
}

/** Writes records in batches, as the gateway does, spread over the days up to now. */
async function fill(file: string, count: number): Promise<void> {
  const jobs = createJobs(openSqliteDriver({ file, synchronous: "NORMAL" }));
  const start = Date.now() - DAYS * DAY_MS;
  let time = start;
  const nextId = createRecordIds(() => Math.floor(time));
  const memory = new RecordMemory();
  for (let done = 0; done < count; done += GROUP) {
    const rows = Array.from({ length: Math.min(GROUP, count - done) }, () => {
      time += (DAYS * DAY_MS) / count;
      const record = recordAt(Math.floor(time), nextId());
      return { ...columnsOf(record, record.client.address), ...memory.write(serializeRecord(record)) };
    });
    await jobs.write({ ...createBatch(rows, new RecentBytes()), counted: [] });
    if (done % 100_000 === 0) process.stderr.write(`\r${done} records`);
  }
  process.stderr.write("\r");
  await jobs.close();
}

/** The first run, with cold caches, and the median of all runs, in milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let run = 0; run < AGAIN; run += 1) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  const median = times.toSorted((one, other) => one - other)[Math.floor(AGAIN / 2)] ?? 0;
  return `${(times[0] ?? 0).toFixed(1).padStart(10)} ${median.toFixed(1).padStart(10)}`;
}

async function exportAll(store: AuditStore, query: AuditQuery): Promise<string> {
  const started = performance.now();
  let bytes = 0;
  let greatest = 0;
  for await (const text of exportTexts(store, { format: "ndjson", query })) {
    bytes += text.length;
    greatest = Math.max(greatest, process.memoryUsage.rss());
  }
  const seconds = (performance.now() - started) / 1000;
  return `${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s, RSS ${(greatest / 2 ** 20).toFixed(0)} MB at most`;
}

async function report(store: AuditStore): Promise<string> {
  const started = performance.now();
  const migration = await createReport({ store, pack, query: {}, now: Date.now(), quietDays: 7 });
  const html = FORMATS.html.write(migration);
  const seconds = (performance.now() - started) / 1000;
  const calls = migration.clients.reduce((sum, { calls: { length } }) => sum + length, 0);
  return (
    `${migration.clients.length} clients, ${calls} guides of a call, ` +
    `${(html.length / 1e6).toFixed(1)} MB of HTML in ${seconds.toFixed(1)} s`
  );
}

/** Fills an audit store with `count` records and times the queries of the console and the report. */
async function benchAudit(count: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "bench-audit-"));
  try {
    const file = join(directory, AUDIT_FILE);
    const started = performance.now();
    await fill(file, count);
    const seconds = (performance.now() - started) / 1000;
    const megabytes = statSync(file).size / 1e6;
    process.stdout.write(
      `${count} records, ${megabytes.toFixed(0)} MB, written at ${(count / seconds).toFixed(0)} a second.\n\n`,
    );
    const store = await openSqliteStore({
      directory,
      durability: "relaxed",
      retentionDays: 365,
      sizeLimit: Number.MAX_SAFE_INTEGER,
    });
    await measure(store);
    await store.close();
    process.stdout.write(`${await deleteOldest(file)}\n`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Times the deletion of two days by retention. */
async function deleteOldest(file: string): Promise<string> {
  const jobs = createJobs(openSqliteDriver({ file, synchronous: "NORMAL" }));
  const most = Number.MAX_SAFE_INTEGER;
  const limits = { sizeLimit: most, summaryRows: most, summaryTokens: most, named: [] };
  const times: string[] = [];
  for (const days of [DAYS - 2, DAYS - 3]) {
    const before = Date.now() - days * DAY_MS;
    const started = performance.now();
    const limitsOfDay = { before, usageBefore: before, ...limits };
    while ((await jobs.makeRoom(limitsOfDay)).more);
    await jobs.cutSummaries(limitsOfDay);
    times.push((performance.now() - started).toFixed(1));
  }
  await jobs.close();
  return `The oldest days deleted in ${times[0]} ms, the next one in ${times[1]} ms`;
}

async function measure(store: AuditStore): Promise<void> {
  const days = (ago: number): string => new Date(Date.now() - ago * DAY_MS).toISOString();
  const busy = { client: "0".repeat(16) };
  const rare = { client: (CLIENTS - 2).toString(16).padStart(16, "0") };
  const route = { route: ROUTES[0] ?? "" };
  const rareRoute = { route: ROUTES.at(-1) ?? "" };
  const half = { since: days(20), until: days(10) };
  const pages: Record<string, AuditQuery> = {
    "no filter": {},
    "busy client": busy,
    "rare client": rare,
    "busy route": route,
    "status 420": { status: 420 },
    "no such status": { status: 599 },
    "ten days": half,
    "busy client, rare route": { ...busy, ...rareRoute },
    "rare client, status 420": { ...rare, status: 420 },
    "all filters": { ...busy, ...route, status: 404, ...half },
    "all filters, nothing found": { ...busy, ...rareRoute, status: 599, ...half },
  };
  process.stdout.write(`${"A page of 50, in ms".padEnd(28)}      first     median\n`);
  for (const [name, query] of Object.entries(pages)) {
    process.stdout.write(`${name.padEnd(28)} ${await timed(() => store.query(query))}\n`);
  }
  const deep = await store.query({ until: days(15), limit: 1 });
  const id = deep.records[0]?.id ?? "";
  process.stdout.write(
    `${"page in mid-course".padEnd(28)} ${await timed(() => store.query({ ...half, before: deep.next ?? "" }))}\n` +
      `${"one record".padEnd(28)} ${await timed(() => store.get(id))}\n\n`,
  );
  const reads = {
    clients: () => store.clients({}),
    usage: () => store.usage({}),
    days: () => store.days({}),
    "count of all": () => store.count({}),
  };
  process.stdout.write(`${"Summaries, in ms".padEnd(28)}      first     median\n`);
  for (const [name, read] of Object.entries(reads))
    process.stdout.write(`${name.padEnd(28)} ${await timed(read)}\n`);
  process.stdout.write(`\nReport: ${await report(store)}\n`);
  process.stdout.write(`Export of ten days: ${await exportAll(store, half)}\n`);
}

/** `npm run bench:audit -- RECORDS` */
const count = Number(process.argv[2] ?? 2_000_000);
if (!(count >= GROUP)) throw new Error(`"${process.argv[2]}" is not a number of records from ${GROUP} on`);
await benchAudit(count);
