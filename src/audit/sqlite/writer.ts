import { DatabaseSync } from "node:sqlite";
import { holdFile } from "../../storage/held-file.ts";
import { migrateSqlite } from "../../storage/schema.ts";
import { SEVERAL } from "../client-shares.ts";
import type { PurgeResult } from "../purge.ts";
import { compressBatchSync, type Batch, type Segment } from "../segment.ts";
import type { IndexRow } from "../stored-row.ts";
import {
  acceptedClients,
  aggregateUsage,
  dayOf,
  LEAST_WORTH_ORDER,
  maxSummaryRows,
  subtractFromUnaccepted,
  UNACCEPTED,
  usageAgent,
  worthOf,
  type CountedRow,
  type UsageRow,
} from "../usage.ts";
import { createPartition, createPartitions, dropPartition, suffixOf } from "./partition.ts";
import { SCHEMA } from "./schema.ts";
import { makeSpace, prepareOwners } from "./size-limit.ts";
import {
  unpackBatch,
  type PurgeJob,
  type SqliteWorkerData,
  type WriterJob,
  type WrittenBatch,
} from "./worker-messages.ts";

const COUNT = `
  INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET
    requests = requests + excluded.requests,
    lossy = lossy + excluded.lossy,
    first = min(first, excluded.first),
    last = max(last, excluded.last),
    sample = iif(excluded.last >= last, excluded.sample, sample),
    agent = iif(excluded.last >= last, excluded.agent, agent)
`;

/** Maximum number of earlier records that one commit moves to a client whose token v4 has accepted. */
const MOST_MOVED = 1000;
/** Clients whose records of earlier days have been moved to them. Above it they are looked for again. */
const MAX_CLAIMED = 10_000;

/** The size of the summaries in the file. */
const SUMMARY_BYTES =
  "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name IN ('usage', 'sqlite_autoindex_usage_1')";
const LEAST = `
  DELETE FROM usage WHERE (day, client, lane, route, status) IN (
    SELECT day, client, lane, route, status FROM usage ORDER BY ${LEAST_WORTH_ORDER}
    LIMIT max(0, (SELECT count(*) FROM usage) - ?)
  )
`;

/** Finds the numbers of texts, or adds the texts. A segment has few texts, so they are looked up once for it. */
function createTextIds({
  text: find,
  addText,
}: ReturnType<typeof prepareDay>): (text: string | null) => number | null {
  const ids = new Map<string, number>();
  return function textId(text) {
    if (text === null) return null;
    const id = ids.get(text) ?? Number(find.get(text)?.["id"] ?? addText.run(text).lastInsertRowid);
    ids.set(text, id);
    return id;
  };
}

/** A segment and its compressed bytes. */
type CompressedSegment = Pick<Segment, "day" | "owner" | "rows"> & { readonly data: Uint8Array };

/** The statements on the tables of one day. */
function prepareDay(database: DatabaseSync, day: string) {
  return {
    owners: prepareOwners(database, day),
    text: database.prepare(`SELECT id FROM text_${day} WHERE text = ?`),
    addText: database.prepare(`INSERT INTO text_${day} (text) VALUES (?)`),
    add: database.prepare(
      `INSERT INTO record_${day} (id, time, client, route, status, lane, method, request_id, agent, lossy, accepted, start, size)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    addSegment: database.prepare(`INSERT INTO segment_${day} VALUES (?, ?, ?, ?, ?, ?)`),
    claim: database.prepare(
      `UPDATE record_${day} SET accepted = 1 WHERE seq IN (
        SELECT seq FROM record_${day} WHERE client = ? AND accepted = 0 LIMIT ${MOST_MOVED}
      ) RETURNING seq, id, time, status, lane, lossy,
        (SELECT text FROM text_${day} WHERE id = client) AS client,
        (SELECT text FROM text_${day} WHERE id = route) AS route,
        (SELECT text FROM text_${day} WHERE id = agent) AS agent`,
    ),
    promote: database.prepare(
      `UPDATE segment_${day} SET worth = ? WHERE seq = (SELECT max(seq) FROM segment_${day} WHERE seq <= ?)
        RETURNING seq`,
    ),
  };
}

/**
 * Opens the database for writing and prepares its schema.
 *
 * @returns A function that runs one job.
 * @throws {Error} If the file is not a database, is damaged, or was written by a newer version.
 */
export function openWriter(data: SqliteWorkerData & { role: "writer" }): (job: WriterJob) => unknown {
  const database = new DatabaseSync(data.file);
  // Other processes of this gateway may write to the same file.
  database.exec("PRAGMA busy_timeout = 5000");
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${data.synchronous}`);
  database.exec("PRAGMA journal_size_limit = 67108864; PRAGMA cache_size = -16384");
  // In pages. Many commits change the same pages, which a checkpoint writes once.
  database.exec("PRAGMA wal_autocheckpoint = 4000");
  migrateSqlite(database, SCHEMA);

  const lostFile = holdFile(data.file);

  const days = createPartitions(database, (suffix) => prepareDay(database, suffix));
  const count = database.prepare(COUNT);
  const shared = database.prepare(
    `SELECT 1 FROM usage WHERE day = ? AND client = '${UNACCEPTED}' AND lane = ? AND route = ? AND status = ?`,
  );
  const uncountEmpty = database.prepare(
    `DELETE FROM usage WHERE day = ? AND client = '${UNACCEPTED}' AND requests <= 0`,
  );
  const uncount = database.prepare("DELETE FROM usage WHERE day < ?");
  const uncountLeast = database.prepare(LEAST);
  const usageOf = database.prepare("SELECT 1 FROM usage WHERE day = ? AND client = ? LIMIT 1");
  const summaryBytes = database.prepare(SUMMARY_BYTES);
  const claimed = new Set<string>();

  function transaction<T>(work: () => T): T {
    database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      database.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite rolls back automatically after some errors, such as a full disk.
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  }

  function write(batch: Batch): WrittenBatch {
    // Before the transaction: other processes can write meanwhile.
    const segments = compress(batch);
    transaction(() => {
      const clients = acceptedClients(segments.flatMap(({ rows }) => rows));
      const isAccepted = ({ time, client }: IndexRow): boolean =>
        client !== null && (clients.has(client) || usageOf.get(dayOf(time), client) !== undefined);
      const judged = segments.map(({ rows, ...rest }) => ({
        ...rest,
        rows: rows.map((row) => (row.accepted || !isAccepted(row) ? row : { ...row, accepted: true })),
      }));
      for (const row of aggregateUsage(insert(judged))) countRow(row);
      claimEarlier(clients, new Set(batch.segments.map(({ day }) => suffixOf(day))));
    });
    const lost = lostFile();
    if (lost !== undefined) throw new Error(lost);
    const storedBytes = segments.reduce((sum, { data }) => sum + data.length, 0);
    return { storedBytes, buffer: batch.bytes.buffer };
  }

  /** Inserts the records that are not stored yet. @returns Their rows. */
  function insert(segments: readonly CompressedSegment[]): IndexRow[] {
    let suffixes = days.list();
    return segments.flatMap(({ day, owner, rows, data }) => {
      const suffix = suffixOf(day);
      if (!suffixes.includes(suffix)) {
        createPartition(database, suffix);
        suffixes = days.list();
      }
      const statements = days.get(suffix);
      const textId = createTextIds(statements);
      const seqs: number[] = [];
      const added = rows.filter((row) => {
        const agent = row.accepted ? null : usageAgent(row.agent);
        const { changes, lastInsertRowid } = statements.add.run(
          row.id,
          row.time,
          textId(row.client),
          textId(row.route),
          row.status,
          row.lane,
          row.method,
          row.requestId,
          textId(agent),
          Number(row.lossy),
          Number(row.accepted),
          row.start,
          row.size,
        );
        if (changes > 0) seqs.push(Number(lastInsertRowid));
        return changes > 0;
      });
      const [first] = seqs;
      if (first === undefined) return [];
      const time = added.reduce((latest, row) => Math.max(latest, row.time), 0);
      const worth = added.reduce((most, row) => Math.max(most, worthOf(row)), 0);
      statements.addSegment.run(first, seqs.at(-1) ?? first, time, worth, data.length, data);
      statements.owners.own.run(owner, first);
      return added;
    });
  }

  function countRow(row: UsageRow): void {
    const { day, client, lane, route, status, requests, lossy, first, last, sample, agent } = row;
    count.run(day, client, lane, route, status, requests, lossy, first, last, sample, agent);
  }

  /** Moves the earlier requests of clients, which were counted under `UNACCEPTED`, to the clients. */
  function claimEarlier(clients: ReadonlySet<string>, written: ReadonlySet<string>): void {
    if (claimed.size > MAX_CLAIMED) claimed.clear();
    for (const client of clients) {
      for (const suffix of claimed.has(client) ? written : days.list()) claimIn(suffix, client);
      claimed.add(client);
    }
  }

  function claimIn(suffix: string, client: string): void {
    const { text, claim, promote, owners } = days.get(suffix);
    const id = text.get(client)?.["id"];
    if (id === undefined) return;
    const moved = claim.all(id) as unknown as (CountedRow & { readonly seq: number })[];
    for (const row of moved) {
      const promoted = promote.get(worthOf({ ...row, accepted: true }), row.seq);
      if (promoted) owners.own.run(SEVERAL, Number(promoted["seq"]));
    }
    for (const row of aggregateUsage(moved.map((found) => ({ ...found, accepted: true })))) {
      countRow(row);
      const { day, lane, route, status } = row;
      if (shared.get(day, lane, route, status)) countRow(subtractFromUnaccepted(row));
      uncountEmpty.run(day);
    }
  }

  function figure(pragma: string): number {
    return Number(database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
  }

  /**
   * Returns by how many bytes the records exceed the limit. Free pages are not counted, since SQLite reuses them. The
   * summaries are not counted, since they have a separate limit.
   */
  function excess(sizeLimit: number): number {
    const used = (figure("page_count") - figure("freelist_count")) * figure("page_size");
    return used - Number(summaryBytes.get()?.["bytes"] ?? 0) - sizeLimit;
  }

  /** Deletes the oldest day that has ended before the retention, or segments above the size limit. */
  function purge({ before, sizeLimit }: PurgeJob): PurgeResult {
    const [oldest] = days.list();
    if (oldest !== undefined && oldest < suffixOf(dayOf(before))) {
      dropPartition(database, oldest);
      return { evicted: 0, more: true };
    }
    uncount.run(dayOf(before));
    uncountLeast.run(maxSummaryRows(sizeLimit));
    const bytes = excess(sizeLimit);
    if (bytes <= 0) return { evicted: 0, more: false };
    return makeSpace(
      days.list().map((suffix) => days.get(suffix).owners),
      bytes,
    );
  }

  return function work(job) {
    if (job.kind === "write") return write(unpackBatch(job.batch));
    if (job.kind === "purge") return transaction(() => purge(job));
    return database.close();
  };
}

/** The segments of a batch with their compressed bytes. */
function compress(batch: Batch): CompressedSegment[] {
  const data = compressBatchSync(batch);
  return batch.segments.map(({ day, owner, rows }, index) => ({
    day,
    owner,
    rows,
    data: data[index] ?? Buffer.alloc(0),
  }));
}
