/**
 * What one gateway takes of everything that has to be bought, for docs/results/capacity.md.
 *
 *   REDIS_URL=redis://… DATABASE_URL=postgres://…/empty npm run bench:capacity
 *
 * Both should be used by nobody else meanwhile; the database should be empty.
 */
import { cpus } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { createClient } from "@redis/client";
import { Client } from "pg";
import { Pool } from "undici";
import { startLoader, type Loader } from "./loader.ts";
import { upstreamState } from "./measure.ts";
import { processCost } from "./process-cost.ts";
import { ALPHA, startGateway, startUpstream, withChildren } from "./targets.ts";
import type { Child } from "./child.ts";

const { REDIS_URL, DATABASE_URL } = process.env;
const MEASURE_MS = 6000;
/** With fewer records than this share of the requests the queue has dropped some: the bytes of a record are unknown. */
const MIN_RECORDED = 0.99;
const CONNECTIONS = 32;
const TOKENS = 5000;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

interface Store {
  readonly records: () => Promise<number>;
  readonly bytes: () => Promise<number>;
}

/** Reads through SQLite: what was written last is in the journal, whose file does not grow, and not in the database's file. */
function sqlite(folder: string): Store {
  function read(run: (database: DatabaseSync) => number): Promise<number> {
    const database = new DatabaseSync(join(folder, "audit.db"), { readOnly: true });
    try {
      return Promise.resolve(run(database));
    } finally {
      database.close();
    }
  }
  const number = (database: DatabaseSync, query: string): number =>
    Number(Object.values(database.prepare(query).get() ?? {})[0]);
  return {
    records: () => read((database) => number(database, "SELECT count(*) FROM audit")),
    bytes: () =>
      read(
        (database) =>
          (number(database, "PRAGMA page_count") - number(database, "PRAGMA freelist_count")) *
          number(database, "PRAGMA page_size"),
      ),
  };
}

function postgres(client: Client): Store {
  const number = async (query: string): Promise<number> =>
    Number(Object.values((await client.query(query)).rows[0] ?? {})[0] ?? 0);
  return {
    records: () => number("SELECT count(*) FROM audit"),
    bytes: () => number("SELECT pg_database_size(current_database())"),
  };
}

/** Waits until nothing is written any more. */
async function settled({ records, bytes }: Store): Promise<void> {
  for (let before = ""; ;) {
    await wait(500);
    const now = `${await records()} ${await bytes()}`;
    if (now === before) return;
    before = now;
  }
}

interface Case {
  readonly name: string;
  readonly gateway: Child;
  readonly store: Store | undefined;
  readonly commands: () => Promise<number>;
}

/** What a store has, when nothing is written any more. */
async function contentOf(store: Store): Promise<{ records: number; bytes: number }> {
  await settled(store);
  return { records: await store.records(), bytes: await store.bytes() };
}

const format = (figure: number): string => figure.toFixed(figure < 10 ? 1 : 0);

/** The bytes of a record, or why they are unknown. */
function bytesPerRecord(requests: number, records: number, bytes: number): string {
  if (records < requests * MIN_RECORDED) return `${Math.round((100 * records) / requests)}% kept`;
  return bytes > 0 ? format(bytes / records) : "unknown";
}

/** One kind of request: everything that the gateway can do, and what that took. */
async function measure(
  { name, gateway, store, commands }: Case,
  path: string,
  loader: Loader,
): Promise<void> {
  const job = { url: gateway.url, path, authorization: ALPHA, connections: CONNECTIONS };
  const warm = await loader.run({ ...job, ms: MEASURE_MS });
  const stored = store && (await contentOf(store));
  const before = { cost: processCost(gateway.pid), commands: await commands() };
  const { requests, failed, seconds, fault } = await loader.run({ ...job, ms: MEASURE_MS });
  const issued = (await commands()) - before.commands;
  const after = store && (await contentOf(store));
  const cost = processCost(gateway.pid);
  const cpu = before.cost && cost ? (cost.cpu - before.cost.cpu) / requests : Number.NaN;
  const bytes =
    stored && after
      ? bytesPerRecord(requests, after.records - stored.records, after.bytes - stored.bytes)
      : "-";
  const figures = [requests / seconds, cpu, (cost?.memory ?? 0) / 1024 ** 2, issued / requests].map(format);
  write(name.padEnd(34) + [...figures, bytes].map((figure) => figure.padStart(12)).join(""));
  if (failed + warm.failed > 0) throw new Error(`${failed + warm.failed} failed: ${fault ?? warm.fault}`);
}

/** Bytes of Redis for each token that calls for the first time. */
async function bytesOfToken(gateway: Child, path: string, memory: () => Promise<number>): Promise<number> {
  const pool = new Pool(gateway.url, { connections: CONNECTIONS });
  const before = await memory();
  let next = 0;
  async function connection(): Promise<void> {
    while (next < TOKENS) {
      const token = String((next += 1)).padStart(32, "0");
      const { body } = await pool.request({
        method: "GET",
        path,
        headers: { authorization: `token ${token}` },
      });
      await body.dump();
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  await pool.close();
  return ((await memory()) - before) / TOKENS;
}

if (!REDIS_URL || !DATABASE_URL) throw new Error("REDIS_URL and DATABASE_URL are needed.");
const redis = await createClient({ url: REDIS_URL }).connect();
const client = new Client({ connectionString: DATABASE_URL });
await client.connect();
const info = async (section: string, name: string): Promise<number> =>
  Number(new RegExp(`^${name}:(\\d+)`, "m").exec(await redis.info(section))?.[1]);
const commands = (): Promise<number> => info("stats", "total_commands_processed");

await withChildren(async (keep, folder) => {
  const upstream = await keep(startUpstream());
  const { one } = await upstreamState({ upstream });
  const shared = { REDIS_URL, DATABASE_URL, GATEWAY_SECRET: "s".repeat(32) };
  const none = async (): Promise<number> => 0;
  const start = (audit: string, name: string, env: Readonly<Record<string, string>>): Promise<Child> =>
    keep(startGateway({ upstream, audit, folder: join(folder, name), built: true, env }));
  const alone = await start("full", "alone", {});
  const off = await start("off", "off", {});
  const full = await start("full", "full", shared);
  const metadata = await start("metadata", "metadata", shared);
  const files = sqlite(join(folder, "alone", "full"));
  const tables = postgres(client);

  const processors = cpus();
  write(
    `Node ${process.version}, ${processors.length} processors (${processors[0]?.model ?? "unknown"}), ` +
      "which v4, the clients and both stores share.",
  );
  write("");
  write(
    "".padEnd(34) +
      ["req/s", "CPU us/req", "RSS MB", "Redis/req", "audit B/req"].map((name) => name.padStart(12)).join(""),
  );
  const loader = startLoader();
  for (const [what, path] of [
    ["List of 25", "/v4/vm/instances"],
    ["One object", one.replace(/^(?!\/v4)/, "/v4")],
  ] as const) {
    write(what);
    await measure(
      { name: "  alone, AUDIT=off", gateway: off, store: undefined, commands: none },
      path,
      loader,
    );
    await measure(
      { name: "  alone, SQLite, AUDIT=full", gateway: alone, store: files, commands: none },
      path,
      loader,
    );
    await measure(
      { name: "  Redis, PostgreSQL, metadata", gateway: metadata, store: tables, commands },
      path,
      loader,
    );
    await measure(
      { name: "  Redis, PostgreSQL, full", gateway: full, store: tables, commands },
      path,
      loader,
    );
  }
  loader.stop();
  const bytes = await bytesOfToken(metadata, "/v4/vm/instances", () => info("memory", "used_memory"));
  write("");
  write(`Redis holds ${Math.round(bytes)} bytes for each token that calls within a window.`);
});
await client.end();
await redis.close();
