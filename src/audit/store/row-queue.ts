import { RecordMemory, type Chunk, type RecordPlace } from "../record/record-memory.ts";
import type { RecordColumns } from "./record-row.ts";

/** A row without its record. Rows survive garbage collections, so they are small. */
export type PendingRow = RecordColumns & RecordPlace;

/** A queue of rows, the oldest first. Taking a row takes constant time. */
export class RowQueue {
  #rows: (PendingRow | undefined)[] = [];
  /** Index of the oldest row. The rows before it have been taken. */
  #first = 0;
  /** Bytes of the records of these rows. */
  bytes = 0;
  /**
   * Separate for each queue. Rows of one queue are committed or dropped in order, so its chunks become free in order.
   */
  readonly memory: RecordMemory;

  constructor(free: Chunk[]) {
    this.memory = new RecordMemory(free);
  }

  get length(): number {
    return this.#rows.length - this.#first;
  }

  push(row: PendingRow): void {
    this.#rows.push(row);
    this.bytes += row.size;
  }

  /** Takes the oldest row. */
  shift(): PendingRow | undefined {
    const row = this.#rows[this.#first];
    if (row === undefined) return undefined;
    this.#rows[this.#first] = undefined;
    this.#first += 1;
    this.bytes -= row.size;
    if (2 * this.#first > this.#rows.length) {
      this.#rows = this.#rows.slice(this.#first);
      this.#first = 0;
    }
    return row;
  }

  /** Inserts rows at the front. */
  unshift(rows: readonly PendingRow[]): void {
    this.#rows = [...rows, ...this.#rows.slice(this.#first)];
    this.#first = 0;
    for (const { size } of rows) this.bytes += size;
  }
}
