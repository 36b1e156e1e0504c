import { errorText } from "../../base/index.ts";
import { AuditUnavailableError } from "./store.ts";
import type { AuditDurability, AuditStats } from "./store.ts";
import type { AuditRecord } from "../record/record.ts";
import type { StoredRow } from "./record-row.ts";
import { WaitingRows, type PendingRow, type QueueLimits } from "./waiting-rows.ts";

/** Milliseconds for which the first row of a relaxed group waits for more rows. */
const GROUP_MS = 50;

/** Maximum number of rows of one transaction, and number of bytes above which no more rows are added. */
const GROUP_ROWS = 1000;
const GROUP_BYTES = 4 * 1024 * 1024;
const MAX_PAUSE_MS = 5000;

const QUEUE_FULL = "The audit queue is full.";
const NOT_WRITTEN = "The audit record could not be written.";

/** The database rejects the values of one of the rows of a commit. The other rows can be written without that row. */
export class RefusedRowsError extends Error {}

/** Options of a write queue. */
export interface WriteQueueOptions extends Partial<QueueLimits> {
  /**
   * Writes all rows in one transaction, or none. Rows that are already stored are not changed. Returns the number of
   * bytes that the records use in the store.
   *
   * @throws {RefusedRowsError} if a row is rejected. It is then called with fewer rows, until only the rejected row
   *   remains and is dropped
   */
  readonly commit: (rows: readonly StoredRow[]) => Promise<number>;
  /** After a failed commit, `relaxed` rows wait for the next one. `strict` rows are dropped, since clients wait for them. */
  readonly durability: AuditDurability;
  /** Milliseconds for which the first row of a relaxed group waits for more. */
  readonly groupMs?: number;
  /** Called with the error when a commit fails, but not again until its reason changes or a commit has succeeded. */
  readonly onFault?: ((error: unknown) => void) | undefined;
  /** Called when a commit succeeds after a failed one. */
  readonly onRecovery?: (() => void) | undefined;
  /** Called for each rejected row that no client waits for, with its request and the reason. */
  readonly onRefused?: ((requestId: string, error: unknown) => void) | undefined;
}

/** The client that waits for a strict record. */
type Waiter = Pick<PromiseWithResolvers<void>, "resolve" | "reject">;

/** The bounded queue in front of a store: commits rows in groups, one group at a time. */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #isStrict: boolean;
  readonly #groupMs: number;
  readonly #rows: WaitingRows;
  readonly #waiters = new Map<StoredRow, Waiter>();
  readonly #counts = {
    dropped: 0,
    written: 0,
    errors: 0,
    recordBytes: 0,
    storedBytes: 0,
    commits: 0,
    commitSeconds: 0,
  };
  /** Number of failed commits since the last successful one. */
  #failures = 0;
  #fault: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseOfTimer = 0;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
    this.#isStrict = options.durability === "strict";
    this.#groupMs = options.groupMs ?? GROUP_MS;
    this.#rows = new WaitingRows(options, (row) => this.#reject(row, QUEUE_FULL));
  }

  /** Like `AuditStore.append`. */
  push(record: AuditRecord): void | Promise<void> {
    if (!this.#isStrict) return this.#enqueue(record);
    const { promise, ...waiter } = Promise.withResolvers<void>();
    this.#enqueue(record, waiter);
    return promise;
  }

  stats(): Omit<AuditStats, "evicted" | "evictedClients"> {
    return { ...this.#counts, queued: this.#rows.count };
  }

  /** Returns why the last commit failed; undefined if it succeeded. */
  fault(): string | undefined {
    return this.#fault;
  }

  /** Commits an empty group, unless a commit is running or planned, to check whether the store works. */
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

  #enqueue(record: AuditRecord, waiter?: Waiter): void {
    if (this.#isClosed) return this.#drop(waiter, "The audit store is closed.");
    try {
      const row = this.#rows.add(record);
      if (waiter) this.#waiters.set(row, waiter);
    } catch (error) {
      return this.#drop(waiter, "The audit record can't be serialised as JSON.", error);
    }
    this.#rows.trim();
    // A client waits for a strict record, so it does not wait for the pause after a failure.
    const isUrgent = this.#isStrict || (this.#failures === 0 && this.#isGroupFull);
    // A timer that is already due stays: otherwise each row of a fast client would delay it again.
    if (isUrgent && this.#pauseOfTimer > 0) this.#stopTimer();
    this.#schedule();
  }

  #drop(waiter: Waiter | undefined, reason: string, cause?: unknown): void {
    this.#counts.dropped += 1;
    waiter?.reject(new AuditUnavailableError(reason, { cause }));
  }

  /** Drops a waiting row. @returns whether a client waited for it */
  #reject(row: PendingRow, reason: string, cause?: unknown): boolean {
    const waiter = this.#waiters.get(row);
    this.#waiters.delete(row);
    this.#rows.delete(row);
    this.#drop(waiter, reason, cause);
    return waiter !== undefined;
  }

  get #isGroupFull(): boolean {
    return this.#rows.waiting >= GROUP_ROWS || this.#rows.bytes > GROUP_BYTES;
  }

  /** Schedules the next commit. After a failure, even an empty group is scheduled, to check whether the store works again. */
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
    if (this.#isStrict && this.#rows.count > 0) return 0;
    if (this.#failures > 0) return Math.min(this.#groupMs * 2 ** this.#failures, MAX_PAUSE_MS);
    return this.#isGroupFull ? 0 : this.#groupMs;
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
    try {
      await this.#commitRows(group);
      const isRecovery = this.#failures > 0;
      this.#failures = 0;
      this.#fault = undefined;
      if (isRecovery) this.#options.onRecovery?.();
    } catch (error) {
      this.#counts.errors += 1;
      this.#failures += 1;
      const fault = errorText(error);
      if (fault !== this.#fault) this.#options.onFault?.(error);
      this.#fault = fault;
      if (this.#isStrict || this.#isClosed)
        for (const row of this.#rows.taken()) this.#reject(row, NOT_WRITTEN, error);
      else this.#rows.putBack();
    }
  }

  /**
   * Commits rows. If one of them is rejected, commits them in halves. @throws the store's error, unless the store
   * rejects a row
   */
  async #commitRows(rows: readonly PendingRow[]): Promise<void> {
    const startedAt = performance.now();
    try {
      const stored = await this.#options.commit(rows);
      this.#settle(rows, stored, performance.now() - startedAt);
    } catch (error) {
      const [row] = rows;
      if (!(error instanceof RefusedRowsError) || !row) throw error;
      if (rows.length === 1) {
        if (!this.#reject(row, NOT_WRITTEN, error)) this.#options.onRefused?.(row.request_id, error);
        return;
      }
      const middle = Math.floor(rows.length / 2);
      await this.#commitRows(rows.slice(0, middle));
      await this.#commitRows(rows.slice(middle));
    }
  }

  #settle(rows: readonly PendingRow[], storedBytes: number, ms: number): void {
    const counts = this.#counts;
    counts.storedBytes += storedBytes;
    counts.written += rows.length;
    if (rows.length > 0) counts.commits += 1;
    if (rows.length > 0) counts.commitSeconds += ms / 1000;
    for (const row of rows) {
      counts.recordBytes += row.size;
      this.#rows.delete(row);
      this.#waiters.get(row)?.resolve();
      this.#waiters.delete(row);
    }
  }
}
