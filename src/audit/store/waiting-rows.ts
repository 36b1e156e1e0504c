import { addressNetwork, Shares } from "../../base/index.ts";
import type { AuditRecord } from "../record/record.ts";
import { RecordMemory, type Chunk, type RecordPlace } from "../record/record-memory.ts";
import { serializeRecord } from "../record/record-text.ts";
import { columnsOf, type RecordColumns, type WaitingColumns } from "./record-row.ts";

/** A row without its record. Rows are small, because they survive garbage collections. */
export type PendingRow = WaitingColumns & RecordPlace;

/**
 * Limits of the waiting rows. Above either limit, rows are dropped: the oldest of unaccepted senders first, then the
 * oldest of clients with at least an average share.
 */
export interface QueueLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
}

/**
 * The name for all callers without an accepted token. They are treated as one client, since any client can send such
 * requests.
 */
const STRANGERS = "";

/** The share of the queue for callers without an accepted token. */
const STRANGERS_SHARE = 1 / 4;

const clientOf = ({ accepted, client }: RecordColumns): string => (accepted && client ? client : STRANGERS);

/** Rows in order, the oldest first, except those that were taken. */
class Line {
  rows = new Set<PendingRow>();
  /** Iterates over the rows if some have to be dropped. */
  #walk = this.rows.values();
  /** Each line has its own memory: rows of one line are committed or dropped in order, so its chunks become free in order. */
  readonly memory: RecordMemory;

  constructor(freeChunks: Chunk[]) {
    this.memory = new RecordMemory(freeChunks);
  }

  /** Returns the next row of the iteration, which restarts after the last row. */
  next(): PendingRow | undefined {
    const { value: row } = this.#walk.next();
    if (row) return row;
    this.#walk = this.rows.values();
    return this.#walk.next().value;
  }

  putBack(rows: Iterable<PendingRow>): void {
    this.rows = new Set([...rows, ...this.rows]);
    this.#walk = this.rows.values();
  }
}

/** The rows that wait for their commit, with their memory. */
export class WaitingRows {
  readonly #limits: QueueLimits;
  readonly #onDrop: (row: PendingRow) => void;
  readonly #freeChunks: Chunk[] = [];
  /** The rows of clients with an accepted token. */
  readonly #accepted = new Line(this.#freeChunks);
  readonly #strangers = new Line(this.#freeChunks);
  /** The rows of the group that is being committed. */
  readonly #taken = new Set<PendingRow>();
  /** Rows and bytes of each client, except those that were taken. */
  readonly #rowsOf = new Shares();
  readonly #bytesOf = new Shares();
  readonly #spared = new RecordMemory(this.#freeChunks);

  /** @param onDrop called with each row that must be dropped. It deletes the row */
  constructor(
    { maxRows = 10_000, maxBytes = 64 * 1024 * 1024 }: Partial<QueueLimits>,
    onDrop: (row: PendingRow) => void,
  ) {
    this.#limits = { maxRows, maxBytes };
    this.#onDrop = onDrop;
  }

  /** The number of rows, including those that were taken. */
  get count(): number {
    return this.waiting + this.#taken.size;
  }

  /** The number of rows that were not taken. */
  get waiting(): number {
    return this.#accepted.rows.size + this.#strangers.rows.size;
  }

  /** The size in bytes of the records that were not taken. */
  get bytes(): number {
    return this.#bytesOf.all;
  }

  /** Adds a record. @throws if it can't be serialised */
  add(record: AuditRecord): PendingRow {
    const columns = columnsOf(record, addressNetwork(record.client.address));
    const line = this.#lineOf(columns);
    const row = Object.assign(columns, line.memory.write(serializeRecord(record)));
    line.rows.add(row);
    this.#count(row, 1);
    return row;
  }

  #lineOf(row: RecordColumns): Line {
    return clientOf(row) === STRANGERS ? this.#strangers : this.#accepted;
  }

  #count(row: PendingRow, rows: 1 | -1): void {
    const client = clientOf(row);
    this.#rowsOf.take(client, rows);
    this.#bytesOf.take(client, rows * row.size);
  }

  /** Deletes a row that has been committed or is dropped, and frees its memory. */
  delete(row: PendingRow): void {
    const line = this.#lineOf(row);
    if (line.rows.delete(row)) this.#count(row, -1);
    else this.#taken.delete(row);
    line.memory.release(row.chunk);
  }

  /** Takes the next group of rows: those of unaccepted senders after all others. Each must be deleted or put back. */
  take(mostRows: number, mostBytes: number): PendingRow[] {
    let bytes = 0;
    for (const { rows } of [this.#accepted, this.#strangers])
      for (const row of rows) {
        if (this.#taken.size >= mostRows || bytes > mostBytes) break;
        rows.delete(row);
        this.#count(row, -1);
        this.#taken.add(row);
        bytes += row.size;
      }
    return [...this.#taken];
  }

  /** Returns the rows that were taken and not deleted. */
  taken(): PendingRow[] {
    return [...this.#taken];
  }

  /** Puts the rows that were taken back at the front. */
  putBack(): void {
    for (const row of this.#taken) this.#count(row, 1);
    for (const line of [this.#accepted, this.#strangers])
      line.putBack([...this.#taken].filter((row) => this.#lineOf(row) === line));
    this.#taken.clear();
    this.trim();
  }

  /** Drops rows until the remaining ones are within the limits. */
  trim(): void {
    while (this.#areStrangersMany || this.#isOver) {
      const row = this.#strangers.next();
      if (!row) break;
      this.#onDrop(row);
    }
    while (this.#isOver) {
      const row = this.#accepted.next();
      if (!row) break;
      if (this.#isLarge(clientOf(row))) this.#onDrop(row);
      else this.#spare(row);
    }
  }

  get #isOver(): boolean {
    return this.count > this.#limits.maxRows || this.bytes > this.#limits.maxBytes;
  }

  get #areStrangersMany(): boolean {
    const { maxRows, maxBytes } = this.#limits;
    const bytes = this.#bytesOf.of(STRANGERS);
    return this.#strangers.rows.size > maxRows * STRANGERS_SHARE || bytes > maxBytes * STRANGERS_SHARE;
  }

  /**
   * Whether a client has at least an average share. Such a client always exists. Rows of unaccepted senders were
   * already dropped.
   */
  #isLarge(client: string): boolean {
    const own = this.#weigh(this.#rowsOf.of(client), this.#bytesOf.of(client));
    return own * this.#rowsOf.owners >= this.#weigh(this.#rowsOf.all, this.#bytesOf.all);
  }

  /** Combines rows and bytes. The result is an integer, so that sums and products are exact. */
  #weigh(rows: number, bytes: number): number {
    return rows * this.#limits.maxBytes + bytes * this.#limits.maxRows;
  }

  /** Copies the record: otherwise its chunk would stay in memory, even if all other records in it are dropped. */
  #spare(row: PendingRow): void {
    const { chunk, start, size } = row;
    const text = chunk.bytes.subarray(start, start + size - 1);
    Object.assign(row, this.#spared.write({ parts: [text, "\n"], size }));
    this.#accepted.memory.release(chunk);
  }
}
