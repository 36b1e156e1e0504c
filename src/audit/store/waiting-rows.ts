import { addressNetwork, Shares } from "../../base/index.ts";
import type { AuditRecord } from "../record/record.ts";
import { RecordMemory, type Chunk, type RecordPlace } from "../record/record-memory.ts";
import { serializeRecord } from "../record/record-text.ts";
import { columnsOf, type RecordColumns, type WaitingColumns } from "./record-row.ts";

/** A row without its record. Rows survive garbage collections, so they are small. */
export type PendingRow = WaitingColumns & RecordPlace;

/**
 * Limits of the rows that wait. Above one of both, rows are dropped: the oldest of strangers first, then the oldest of clients with
 * an average share or more.
 */
export interface QueueLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** All callers without an accepted token count as one client, since anybody can send such requests. */
const STRANGERS = "";

/** The share of the queue for strangers. */
const STRANGERS_SHARE = 1 / 4;

const clientOf = ({ accepted, client }: RecordColumns): string => (accepted && client ? client : STRANGERS);

/** Rows in their order, the oldest first, without those that are taken. */
class Line {
  rows = new Set<PendingRow>();
  /** Goes through the rows when some have to be dropped. */
  #walk = this.rows.values();
  /** Separate for each line: rows of one line are committed or dropped in order, so its chunks become free in order. */
  readonly memory: RecordMemory;

  constructor(freeChunks: Chunk[]) {
    this.memory = new RecordMemory(freeChunks);
  }

  /** The next row of the walk, which begins again after the last row. */
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
  /** The rows of the group that is committed now. */
  readonly #taken = new Set<PendingRow>();
  /** Rows and bytes of each client, without those that are taken. */
  readonly #rowsOf = new Shares();
  readonly #bytesOf = new Shares();
  readonly #spared = new RecordMemory(this.#freeChunks);

  /** @param onDrop Called with each row that has to be dropped. It deletes the row */
  constructor(
    { maxRows = 10_000, maxBytes = 64 * 1024 * 1024 }: Partial<QueueLimits>,
    onDrop: (row: PendingRow) => void,
  ) {
    this.#limits = { maxRows, maxBytes };
    this.#onDrop = onDrop;
  }

  /** How many rows there are, with those that are taken. */
  get count(): number {
    return this.waiting + this.#taken.size;
  }

  /** How many are not taken. */
  get waiting(): number {
    return this.#accepted.rows.size + this.#strangers.rows.size;
  }

  /** Bytes of the records that are not taken. */
  get bytes(): number {
    return this.#bytesOf.all;
  }

  /** @throws where the record can't be serialised */
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

  /** Takes the next group of rows: those of strangers after all others. Each has to be deleted or put back. */
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

  /** The rows that were taken and are not deleted. */
  taken(): PendingRow[] {
    return [...this.#taken];
  }

  /** Puts the rows that were taken back in front. */
  putBack(): void {
    for (const row of this.#taken) this.#count(row, 1);
    for (const line of [this.#accepted, this.#strangers])
      line.putBack([...this.#taken].filter((row) => this.#lineOf(row) === line));
    this.#taken.clear();
    this.trim();
  }

  /** Drops rows until the others are within the limits. */
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

  /** Whether a client has an average share or more. There is always such a client. No rows of strangers are left. */
  #isLarge(client: string): boolean {
    const own = this.#weigh(this.#rowsOf.of(client), this.#bytesOf.of(client));
    return own * this.#rowsOf.owners >= this.#weigh(this.#rowsOf.all, this.#bytesOf.all);
  }

  /** Integers, so that sums and products are exact. */
  #weigh(rows: number, bytes: number): number {
    return rows * this.#limits.maxBytes + bytes * this.#limits.maxRows;
  }

  /** Copies the record: the chunk that it is in would wait for it, although all others in it are dropped. */
  #spare(row: PendingRow): void {
    const { chunk, start, size } = row;
    const text = chunk.bytes.subarray(start, start + size - 1);
    Object.assign(row, this.#spared.write({ parts: [text, "\n"], size }));
    this.#accepted.memory.release(chunk);
  }
}
