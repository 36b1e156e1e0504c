import { addressNetwork, Shares } from "../../base/index.ts";
import type { AuditRecord } from "../record/record.ts";
import { RecordMemory, type Chunk, type RecordPlace } from "../record/record-memory.ts";
import { serializeRecord } from "../record/record-text.ts";
import { columnsOf, type RecordColumns, type WaitingColumns } from "./record-row.ts";

/** A row without its record. Rows survive garbage collections, so they are small. */
export type PendingRow = WaitingColumns & RecordPlace;

/** Limits of the rows that wait. Above one of both, rows of clients with an average share or more are dropped, the oldest first. */
export interface QueueLimits {
  readonly maxRows: number;
  readonly maxBytes: number;
}

/** All callers without an accepted token count as one client, since anybody can send such requests. */
const STRANGERS = "";

const clientOf = ({ accepted, client }: RecordColumns): string => (accepted && client ? client : STRANGERS);

/** The rows that wait for their commit, with their memory. */
export class WaitingRows {
  readonly #limits: QueueLimits;
  readonly #onDrop: (row: PendingRow) => void;
  /** The oldest first, without those that are taken. */
  #rows = new Set<PendingRow>();
  /** Goes through the rows when some have to be dropped. The rows before it were spared. */
  #oldest = this.#rows.values();
  /** The rows of the group that is committed now. */
  readonly #taken = new Set<PendingRow>();
  /** Rows and bytes of each client, without those that are taken. */
  readonly #rowsOf = new Shares();
  readonly #bytesOf = new Shares();
  readonly #freeChunks: Chunk[] = [];
  readonly #memory = new RecordMemory(this.#freeChunks);
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
    return this.#rows.size + this.#taken.size;
  }

  /** How many are not taken. */
  get waiting(): number {
    return this.#rows.size;
  }

  /** Bytes of the records that are not taken. */
  get bytes(): number {
    return this.#bytesOf.all;
  }

  /** @throws where the record can't be serialised */
  add(record: AuditRecord): PendingRow {
    const columns = columnsOf(record, addressNetwork(record.client.address));
    const row = Object.assign(columns, this.#memory.write(serializeRecord(record)));
    this.#rows.add(row);
    this.#count(row, 1);
    return row;
  }

  #count(row: PendingRow, rows: 1 | -1): void {
    const client = clientOf(row);
    this.#rowsOf.take(client, rows);
    this.#bytesOf.take(client, rows * row.size);
  }

  /** Deletes a row that has been committed or is dropped, and frees its memory. */
  delete(row: PendingRow): void {
    if (this.#rows.delete(row)) this.#count(row, -1);
    else this.#taken.delete(row);
    this.#memory.release(row.chunk);
  }

  /** Takes the next group of rows. Each has to be deleted or put back. */
  take(mostRows: number, mostBytes: number): PendingRow[] {
    let bytes = 0;
    for (const row of this.#rows) {
      if (this.#taken.size >= mostRows || bytes > mostBytes) break;
      this.#rows.delete(row);
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
    this.#rows = new Set([...this.#taken, ...this.#rows]);
    this.#oldest = this.#rows.values();
    this.#taken.clear();
    this.trim();
  }

  /** Drops rows until the others are within the limits. */
  trim(): void {
    const { maxRows, maxBytes } = this.#limits;
    while ((this.count > maxRows || this.bytes > maxBytes) && this.#rows.size > 0) {
      const { value: row } = this.#oldest.next();
      if (!row) this.#oldest = this.#rows.values();
      else if (this.#isLarge(clientOf(row))) this.#onDrop(row);
      else this.#spare(row);
    }
  }

  /** Whether a client has an average share or more. There is always such a client. */
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
    this.#memory.release(chunk);
  }
}
