import { errorText } from "../../base/index.ts";
import { AuditUnavailableError } from "./store.ts";
import type { AuditDurability, AuditStats } from "./store.ts";
import type { AuditRecord } from "../record/record.ts";
import type { PendingRow } from "./row-queue.ts";
import type { StoredRow } from "./record-row.ts";
import { WaitingRows, type WaitingRowsOptions } from "./waiting-rows.ts";

/** Milliseconds for which the first row of a relaxed group waits for more rows. */
export const GROUP_MS = 50;
/** Default limits of the queue. */
export const MAX_QUEUED = { maxRows: 10_000, maxBytes: 64 * 1024 * 1024 } as const;

/** Maximum number of rows of one transaction, and of bytes above which it gets no more rows. */
const GROUP_ROWS = 1000;
const GROUP_BYTES = 4 * 1024 * 1024;
const MAX_PAUSE_MS = 5000;

const QUEUE_FULL = "The audit queue is full.";
const NOT_WRITTEN = "The audit record could not be written.";

/** The database refuses the values of one of the rows of a commit. The other rows can be written without it. */
export class RefusedRowsError extends Error {}

/** Options of a write queue. */
export interface WriteQueueOptions extends Omit<WaitingRowsOptions, "onDrop"> {
  /**
   * Writes all rows in one transaction, or none. Rows that are already stored are not changed. Returns how many bytes
   * the records take in the store.
   *
   * @throws {RefusedRowsError} Then it is called with fewer rows, until the one that is refused is alone and is dropped.
   */
  readonly commit: (rows: readonly StoredRow[]) => Promise<number>;
  /** After a failed commit `relaxed` rows return to the queue. `strict` rows are dropped, since clients wait for them. */
  readonly durability: AuditDurability;
  /** Milliseconds for which the first row of a relaxed group waits for more. */
  readonly groupMs: number;
  /** Called with the error when a commit fails, but not again until one has succeeded. */
  readonly onFault?: ((error: unknown) => void) | undefined;
  /** Called with the request of each refused row for which no client waits, and the reason. */
  readonly onRefused?: ((requestId: string, error: unknown) => void) | undefined;
}

/** The bounded queue in front of a store. */
export interface WriteQueue {
  /** Like `AuditStore.append`. */
  readonly push: (record: AuditRecord) => void | Promise<void>;
  readonly stats: () => Omit<AuditStats, "evicted" | "evictedClients">;
  /** Commits an empty group, unless a commit is running or planned, to check whether the store works. */
  readonly probe: () => void;
  /** Why the last commit failed; undefined if it succeeded. */
  readonly fault: () => string | undefined;
  readonly close: () => Promise<void>;
}

/** Creates the bounded queue in front of a store. */
export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  const writer = new GroupWriter(options);
  return {
    push: (record) => writer.push(record),
    stats: () => writer.stats(),
    probe: () => writer.probe(),
    fault: () => writer.fault(),
    close: () => writer.close(),
  };
}

/** The client that waits for a strict record. */
type Waiter = Pick<PromiseWithResolvers<void>, "resolve" | "reject">;

/** Counters of the queue. */
class WriteCounts {
  dropped = 0;
  written = 0;
  errors = 0;
  recordBytes = 0;
  storedBytes = 0;
  commits = 0;
  commitMs = 0;
}

/** Commits rows in groups, one group at a time. */
class GroupWriter {
  readonly #options: WriteQueueOptions;
  readonly #rows: WaitingRows;
  readonly #waiters = new Map<StoredRow, Waiter>();
  readonly #counts = new WriteCounts();
  #inFlight = 0;
  /** Failed commits since the last one that succeeded. */
  #failures = 0;
  #fault: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseOfTimer = 0;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
    const { maxRows, maxBytes } = options;
    const onDrop = (row: PendingRow): void => this.#drop(this.#takeWaiter(row), QUEUE_FULL);
    this.#rows = new WaitingRows({ maxRows, maxBytes, onDrop });
  }

  push(record: AuditRecord): void | Promise<void> {
    if (!this.#isStrict) return this.#enqueue(record);
    const { promise, ...waiter } = Promise.withResolvers<void>();
    this.#enqueue(record, waiter);
    return promise;
  }

  stats(): Omit<AuditStats, "evicted" | "evictedClients"> {
    const { commitMs, ...counts } = this.#counts;
    return { ...counts, queued: this.#rows.count + this.#inFlight, commitSeconds: commitMs / 1000 };
  }

  fault(): string | undefined {
    return this.#fault;
  }

  probe(): void {
    if (!this.#isClosed && !this.#running && !this.#timer) void this.#run();
  }

  /** Commits all rows. After a failure the rows are dropped, so that this ends. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#running;
    while (this.#rows.count > 0) await this.#run();
  }

  get #isStrict(): boolean {
    return this.#options.durability === "strict";
  }

  get #isGroupFull(): boolean {
    return this.#rows.count >= GROUP_ROWS || this.#rows.bytes > GROUP_BYTES;
  }

  #enqueue(record: AuditRecord, waiter?: Waiter): void {
    if (this.#isClosed) return this.#drop(waiter, "The audit store is closed.");
    try {
      const row = this.#rows.add(record);
      if (waiter) this.#waiters.set(row, waiter);
    } catch (error) {
      return this.#drop(waiter, "The audit record can't be serialised as JSON.", error);
    }
    this.#rows.trim(this.#inFlight);
    // A client waits for a strict record, so it does not wait for the pause after a failure.
    const isUrgent = this.#isStrict || (this.#failures === 0 && this.#isGroupFull);
    // A timer that is due already stays: each row of a fast client would put it off again.
    if (isUrgent && this.#pauseOfTimer > 0) this.#stopTimer();
    this.#schedule();
  }

  /** The client that waits for a row. It is not kept any longer. */
  #takeWaiter(row: PendingRow): Waiter | undefined {
    const waiter = this.#waiters.get(row);
    this.#waiters.delete(row);
    return waiter;
  }

  #drop(waiter: Waiter | undefined, reason: string, cause?: unknown): void {
    this.#counts.dropped += 1;
    waiter?.reject(new AuditUnavailableError(reason, { cause }));
  }

  /** After a failure an empty group is scheduled, too: it checks whether the store works again. */
  #schedule(): void {
    if (this.#timer || this.#running || (this.#rows.count === 0 && this.#failures === 0)) return;
    this.#pauseOfTimer = this.#pause();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#run();
    }, this.#pauseOfTimer);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #pause(): number {
    const { groupMs } = this.#options;
    if (this.#isStrict && this.#rows.count > 0) return 0;
    if (this.#failures > 0) return Math.min(groupMs * 2 ** this.#failures, MAX_PAUSE_MS);
    return this.#isGroupFull ? 0 : groupMs;
  }

  #run(): Promise<void> {
    this.#running ??= this.#commitGroup().finally(() => {
      this.#running = undefined;
      if (!this.#isClosed) this.#schedule();
    });
    return this.#running;
  }

  async #commitGroup(): Promise<void> {
    const group = this.#rows.take(GROUP_ROWS, GROUP_BYTES);
    const left = new Set(group);
    this.#inFlight = group.length;
    try {
      await this.#commitRows(group, left);
      this.#failures = 0;
      this.#fault = undefined;
    } catch (error) {
      this.#inFlight = 0;
      this.#counts.errors += 1;
      this.#failures += 1;
      if (this.#failures === 1) this.#options.onFault?.(error);
      this.#fault = errorText(error);
      this.#requeue([...left], error);
    }
  }

  /**
   * Commits rows, in halves if one of them is refused.
   *
   * @param left The rows of the group that are neither committed nor refused. Those that are will be removed.
   * @throws What the store has thrown, unless it refuses a row
   */
  async #commitRows(rows: readonly PendingRow[], left: Set<PendingRow>): Promise<void> {
    const startedAt = performance.now();
    try {
      const stored = await this.#options.commit(rows);
      this.#settle(rows, left);
      this.#countCommit(rows, stored, performance.now() - startedAt);
    } catch (error) {
      if (!(error instanceof RefusedRowsError) || rows.length === 0) throw error;
      const [row] = rows;
      if (row && rows.length === 1) return this.#refuse(row, left, error);
      const middle = Math.floor(rows.length / 2);
      await this.#commitRows(rows.slice(0, middle), left);
      await this.#commitRows(rows.slice(middle), left);
    }
  }

  #settle(rows: readonly PendingRow[], left: Set<PendingRow>): void {
    for (const row of rows) {
      left.delete(row);
      this.#rows.release(row);
      this.#takeWaiter(row)?.resolve();
    }
    this.#inFlight = left.size;
  }

  #countCommit(rows: readonly PendingRow[], stored: number, ms: number): void {
    const counts = this.#counts;
    counts.storedBytes += stored;
    counts.written += rows.length;
    for (const { size } of rows) counts.recordBytes += size;
    if (rows.length === 0) return;
    counts.commits += 1;
    counts.commitMs += ms;
  }

  #refuse(row: PendingRow, left: Set<PendingRow>, error: unknown): void {
    left.delete(row);
    this.#inFlight = left.size;
    this.#rows.release(row);
    const waiter = this.#takeWaiter(row);
    if (!waiter) this.#options.onRefused?.(row.requestId, error);
    this.#drop(waiter, NOT_WRITTEN, error);
  }

  #requeue(group: readonly PendingRow[], error: unknown): void {
    if (this.#isStrict || this.#isClosed) {
      for (const row of group) {
        this.#rows.release(row);
        this.#drop(this.#takeWaiter(row), NOT_WRITTEN, error);
      }
      return;
    }
    this.#rows.putBack(group);
    this.#rows.trim(this.#inFlight);
  }
}
