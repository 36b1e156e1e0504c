import { addressNetwork, Shares } from "../../base/index.ts";
import type { AuditRecord } from "../record/record.ts";
import type { Chunk } from "../record/record-memory.ts";
import { serializeRecord } from "../record/record-text.ts";
import { RowQueue, type PendingRow } from "./row-queue.ts";
import { columnsOf, type RecordColumns } from "./record-row.ts";

/** Share of the queue for callers without an accepted token, since anybody can send such requests. */
const UNACCEPTED_SHARE = 1 / 4;

const clientOf = ({ accepted, client }: RecordColumns): string | null => (accepted ? client : null);

/** The limits of the rows that wait, and what happens to those above them. */
export interface WaitingRowsOptions {
  /**
   * Above one of both limits rows are dropped: the oldest of callers without an accepted token first, then the oldest of clients
   * with an average share or more.
   */
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Called with each row that is dropped, after its memory was released. */
  readonly onDrop: (row: PendingRow) => void;
}

/** The rows that wait for a commit, with their memory. */
export class WaitingRows {
  readonly #options: WaitingRowsOptions;
  readonly #freeChunks: Chunk[] = [];
  #accepted = new RowQueue(this.#freeChunks);
  /** Rows that were older than those that had to be dropped. */
  #spared = new RowQueue(this.#freeChunks);
  readonly #unaccepted = new RowQueue(this.#freeChunks);
  /** Rows and bytes of clients with an accepted token. */
  readonly #rowsOf = new Shares();
  readonly #bytesOf = new Shares();

  constructor(options: WaitingRowsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#accepted.length + this.#spared.length + this.#unaccepted.length;
  }

  get bytes(): number {
    return this.#accepted.bytes + this.#spared.bytes + this.#unaccepted.bytes;
  }

  /** @throws where the record can't be serialised */
  add(record: AuditRecord): PendingRow {
    const columns = columnsOf(record, addressNetwork(record.client.address));
    const line = this.#queueOf(columns);
    const row = Object.assign(columns, line.memory.write(serializeRecord(record)));
    line.push(row);
    this.#countRow(row, 1);
    return row;
  }

  /** Takes a group of rows: those of known callers before those of strangers. Their memory is in use until they are released. */
  take(mostRows: number, mostBytes: number): PendingRow[] {
    const group: PendingRow[] = [];
    let groupBytes = 0;
    while (group.length < mostRows && groupBytes <= mostBytes) {
      const next = this.#spared.shift() ?? this.#accepted.shift() ?? this.#unaccepted.shift();
      if (!next) break;
      group.push(next);
      groupBytes += next.size;
    }
    return group;
  }

  /** Puts rows that were taken back in front. */
  putBack(group: readonly PendingRow[]): void {
    for (const line of [this.#accepted, this.#unaccepted])
      line.unshift(group.filter((row) => this.#queueOf(row) === line));
  }

  /** Frees the memory of a row that has been committed or is dropped. */
  release(row: PendingRow): void {
    this.#queueOf(row).memory.release(row.chunk);
    this.#countRow(row, -1);
  }

  /** Drops rows until the others are within the limits. @param inFlight rows that were taken and are not released yet */
  trim(inFlight: number): void {
    const { maxRows, maxBytes } = this.#options;
    const unaccepted = this.#unaccepted;
    while (unaccepted.length > maxRows * UNACCEPTED_SHARE || unaccepted.bytes > maxBytes * UNACCEPTED_SHARE)
      this.#drop(unaccepted.shift());
    while ((this.count + inFlight > maxRows || this.bytes > maxBytes) && this.count > 0)
      if (unaccepted.length > 0) this.#drop(unaccepted.shift());
      else this.#dropOfLargeClient();
  }

  #queueOf(row: RecordColumns): RowQueue {
    return clientOf(row) === null ? this.#unaccepted : this.#accepted;
  }

  #countRow(row: PendingRow, rows: 1 | -1): void {
    const client = clientOf(row);
    if (client === null) return;
    this.#rowsOf.take(client, rows);
    this.#bytesOf.take(client, rows * row.size);
  }

  /** Whether a client has an average share or more. There is always such a client. */
  #isLarge(client: string): boolean {
    const own = this.#weigh(this.#rowsOf.of(client), this.#bytesOf.of(client));
    return own * this.#rowsOf.owners >= this.#weigh(this.#rowsOf.all, this.#bytesOf.all);
  }

  /** Integers, so that sums and products are exact. */
  #weigh(rows: number, bytes: number): number {
    return rows * this.#options.maxBytes + bytes * this.#options.maxRows;
  }

  /** Drops a row of a client with a large share. Older rows of other clients are spared. */
  #dropOfLargeClient(): void {
    for (;;) {
      if (this.#accepted.length === 0) [this.#accepted, this.#spared] = [this.#spared, this.#accepted];
      const oldest = this.#accepted.shift();
      if (!oldest || this.#isLarge(oldest.client ?? "")) return this.#drop(oldest);
      this.#spare(oldest);
    }
  }

  /** Copies the record: the chunk that it is in would wait for it, although all others in it are dropped. */
  #spare(row: PendingRow): void {
    const { chunk, start, size } = row;
    const text = chunk.bytes.subarray(start, start + size - 1);
    Object.assign(row, this.#spared.memory.write({ parts: [text, "\n"], size }));
    this.#accepted.memory.release(chunk);
    this.#spared.push(row);
  }

  #drop(row: PendingRow | undefined): void {
    if (!row) return;
    this.release(row);
    this.#options.onDrop(row);
  }
}
