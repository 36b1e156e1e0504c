import { DatabaseSync } from "node:sqlite";
import { holdFile } from "../../../base/storage/held-file.ts";
import { migrateSqlite } from "../../../base/storage/schema.ts";
import { SEVERAL } from "../client-shares.ts";
import type { EraseRequest, Erasure } from "../erase.ts";
import type { PurgeResult } from "../purge.ts";
import { compressBatchSync, type Batch } from "../segment.ts";
import type { IndexRow } from "../stored-row.ts";
import { aggregateLosses } from "../../usage/loss-counts.ts";
import { aggregateSent } from "../../usage/sent-members.ts";
import { keyRows, type Keyed, type KeyedRows } from "../../usage/summary-key.ts";
import { acceptedClients, dayOf, worthOf } from "../../usage/usage.ts";
import { eraseRecords, eraseSummaries, type ErasePosition, type EraseStep } from "./erase.ts";
import { Losses } from "./losses.ts";
import { createPartition, createPartitions, dropPartition, suffixOf, type Partitions } from "./partition.ts";
import { SCHEMA } from "./schema.ts";
import { Sent } from "./sent.ts";
import { makeSpace, removeOldest } from "./size-limit.ts";
import { Summaries } from "./summaries.ts";
import { Tokens } from "./tokens.ts";
import { insertSegment, prepareDay, type CompressedSegment, type DayStatements } from "./write-day.ts";
import {
  unpackBatch,
  type PurgeJob,
  type SqliteWorkerData,
  type WriteJob,
  type WriterJob,
  type WrittenBatch,
} from "./thread/worker-messages.ts";
import { allRows } from "./rows.ts";
import { type CountedRow, aggregateTokens, aggregateUsage } from "../../usage/count-usage.ts";

/** Clients whose records of earlier days have been moved to them. Above it they are looked for again. */
const MAX_CLAIMED = 10_000;

/** An earlier record of a token. */
type ClaimedRow = CountedRow & Pick<IndexRow, "sentBits" | "lostBits"> & { readonly seq: number };

type WriterData = SqliteWorkerData & { readonly role: "writer" };

/** Opens the database for writing and prepares its schema. */
function openDatabase({ file, synchronous }: WriterData): DatabaseSync {
  const database = new DatabaseSync(file);
  // Other processes of this gateway may write to the same file.
  database.exec("PRAGMA busy_timeout = 5000");
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`);
  database.exec("PRAGMA journal_size_limit = 67108864");
  // What is deleted is overwritten, however it is deleted: an erased client may have been in pages that are free by now.
  database.exec("PRAGMA secure_delete = ON");
  // In pages. Many commits change the same pages, which a checkpoint writes once.
  database.exec("PRAGMA wal_autocheckpoint = 4000");
  migrateSqlite(database, SCHEMA);
  return database;
}

/** The connection that writes. */
class Writer {
  readonly #database: DatabaseSync;
  readonly #lostFile: () => string | undefined;
  readonly #days: Partitions<DayStatements>;
  readonly #summaries: Summaries;
  readonly #tokens: Tokens;
  readonly #sent: Sent;
  readonly #losses: Losses;
  readonly #claimed = new Set<string>();

  constructor(data: WriterData) {
    const database = openDatabase(data);
    this.#database = database;
    this.#lostFile = holdFile(data.file);
    this.#days = createPartitions(database, (suffix) => prepareDay(database, suffix));
    this.#summaries = new Summaries(database);
    this.#tokens = new Tokens(database);
    this.#sent = new Sent(database);
    this.#losses = new Losses(database);
  }

  /** Stores a batch in one transaction. */
  write(batch: Batch, { names = [], lossNames = [] }: Pick<WriteJob, "names" | "lossNames">): WrittenBatch {
    // Before the transaction: other processes can write meanwhile.
    const data = compressBatchSync(batch);
    this.#transaction(() => {
      const rows = batch.segments.flatMap((segment) => segment.rows);
      const keyed = keyRows(rows, this.#tokens.find(rows));
      for (const list of names) this.#sent.addNames(list);
      for (const list of lossNames) this.#losses.addNames(list);
      for (const [from, to] of keyed.renamed) {
        this.#summaries.rename(from, to);
        this.#sent.rename(from, to);
        this.#losses.rename(from, to);
      }
      const added = this.#insert(withData(batch, data, keyed));
      for (const row of aggregateUsage(added)) this.#summaries.add(row);
      for (const row of aggregateTokens(added, keyed.tokens)) this.#tokens.add(row);
      for (const row of aggregateSent(added)) this.#sent.add(row);
      for (const row of aggregateLosses(added)) this.#losses.add(row);
      const days = new Set(batch.segments.map(({ day }) => suffixOf(day)));
      this.#claimEarlier(acceptedClients(rows), days, keyed.tokens);
    });
    const lost = this.#lostFile();
    if (lost !== undefined) throw new Error(lost);
    const storedBytes = data.reduce((sum, { length }) => sum + length, 0);
    return { storedBytes, buffer: batch.bytes.buffer };
  }

  /** Deletes some of the oldest day that has ended before the retention, or segments above the size limit. */
  purge(job: PurgeJob): PurgeResult {
    return this.#transaction(() => this.#purge(job));
  }

  /** Erases some records of a client. */
  erase(keys: readonly string[], from: ErasePosition | undefined): EraseStep {
    return this.#transaction(() => eraseRecords(this.#database, keys, from));
  }

  eraseSummaries(request: EraseRequest, records: number): Erasure {
    const erasure = this.#transaction(() => eraseSummaries(this.#database, request, records));
    // The log of changes still has what was erased, and the file has it until the log is written to it.
    const checkpoint = this.#database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
    if (checkpoint?.["busy"] !== 0)
      throw new Error(
        "the client is erased, but another process reads the store, so that its log still has the client: erase it again",
      );
    return erasure;
  }

  close(): void {
    this.#database.close();
  }

  #transaction<T>(work: () => T): T {
    const database = this.#database;
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

  /** Inserts the records that are not stored yet. @returns Their rows. */
  #insert(segments: readonly CompressedSegment[]): Keyed<IndexRow>[] {
    let suffixes = this.#days.list();
    return segments.flatMap((segment) => {
      const suffix = suffixOf(segment.day);
      if (!suffixes.includes(suffix)) {
        createPartition(this.#database, suffix);
        suffixes = this.#days.list();
      }
      return insertSegment(this.#days.get(suffix), segment);
    });
  }

  /** Moves the earlier requests of tokens, which were counted under `UNACCEPTED`, to their clients. */
  #claimEarlier(
    clients: ReadonlySet<string>,
    written: ReadonlySet<string>,
    keys: ReadonlyMap<string, string>,
  ): void {
    const claimed = this.#claimed;
    if (claimed.size > MAX_CLAIMED) claimed.clear();
    for (const client of clients) {
      const suffixes = claimed.has(client) ? written : this.#days.list();
      for (const suffix of suffixes) this.#claimIn(suffix, client, keys);
      claimed.add(client);
    }
  }

  #claimIn(suffix: string, client: string, keys: ReadonlyMap<string, string>): void {
    const { text, claim, promote, owners } = this.#days.get(suffix);
    const id = text.get(client)?.["id"];
    if (id === undefined) return;
    const found = allRows<ClaimedRow>(claim, id);
    for (const row of found) {
      const promoted = promote.get(worthOf({ ...row, accepted: true }), row.seq);
      if (promoted) owners.own.run(SEVERAL, Number(promoted["seq"]));
    }
    const moved = found.map((row) => ({ ...row, accepted: true, key: keys.get(client) ?? client }));
    // Requests with a label are counted under it already.
    const uncounted = moved.filter(({ sender }) => !sender);
    for (const row of aggregateUsage(uncounted)) this.#summaries.claim(row);
    for (const row of aggregateLosses(uncounted)) this.#losses.add(row);
    for (const row of aggregateTokens(moved, keys)) this.#tokens.add(row);
    for (const row of aggregateSent(moved)) this.#sent.add(row);
  }

  #purge({ before, sizeLimit, ...limits }: PurgeJob): PurgeResult {
    const { usageBefore, summaryRows } = limits;
    const days = this.#days;
    const [oldest] = days.list();
    if (oldest !== undefined && oldest < suffixOf(dayOf(before))) {
      // Overwriting a day takes as long as writing it did: a step that drops all of it would hold up the commits.
      if (!removeOldest(days.get(oldest).owners)) dropPartition(this.#database, oldest);
      return { evicted: 0, clients: 0, more: true };
    }
    this.#tokens.purge(usageBefore, limits);
    this.#database.prepare("DELETE FROM erased WHERE time < ?").run(usageBefore);
    this.#sent.purge(dayOf(usageBefore), summaryRows);
    this.#losses.purge(dayOf(usageBefore), summaryRows);
    const { clients, more } = this.#summaries.purge(limits);
    const excess = this.#recordBytes() - sizeLimit;
    if (excess <= 0) return { evicted: 0, clients, more };
    const made = makeSpace(
      days.list().map((suffix) => days.get(suffix).owners),
      excess,
    );
    return { ...made, clients, more: made.more || more };
  }

  /**
   * The size of the records. Free pages are not counted, since SQLite reuses them. The summaries are not counted, since
   * they have a separate limit.
   */
  #recordBytes(): number {
    const figure = (pragma: string): number =>
      Number(this.#database.prepare(`PRAGMA ${pragma}`).get()?.[pragma]);
    const used = (figure("page_count") - figure("freelist_count")) * figure("page_size");
    return used - this.#summaries.bytes();
  }
}

/**
 * Opens the database for writing and prepares its schema.
 *
 * @returns A function that runs one job.
 * @throws {Error} If the file is not a database, is damaged, or was written by a newer version.
 */
export function openWriter(data: WriterData): (job: WriterJob) => unknown {
  const writer = new Writer(data);
  return function work(job) {
    if (job.kind === "write") return writer.write(unpackBatch(job.batch), job);
    if (job.kind === "purge") return writer.purge(job);
    if (job.kind === "erase") return writer.erase(job.keys, job.from);
    if (job.kind === "eraseSummaries") return writer.eraseSummaries(job.request, job.records);
    return writer.close();
  };
}

/** The segments of a batch with their compressed bytes, and with the keys of their rows. */
function withData(
  { segments }: Batch,
  data: readonly Uint8Array[],
  { rows }: KeyedRows<IndexRow>,
): CompressedSegment[] {
  let next = 0;
  return segments.map(({ day, owner, rows: { length } }, index) => {
    const start = next;
    next += length;
    return { day, owner, rows: rows.slice(start, next), data: data[index] ?? Buffer.alloc(0) };
  });
}
