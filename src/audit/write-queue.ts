import { AuditUnavailableError } from "./store.ts";
import type { AuditDurability, AuditStats } from "./store.ts";
import type { AuditRecord } from "./record.ts";
import type { Chunk } from "./record-memory.ts";
import { RowQueue, WaitingClients, type PendingRow } from "./row-queue.ts";
import { serializeRecord } from "./record-text.ts";
import { columnsOf } from "./stored-row.ts";
import type { RecordColumns, StoredRow } from "./stored-row.ts";

/** Milliseconds for which the first row of a relaxed group waits for more rows. */
export const GROUP_MS = 50;
/** Default limits of the queue. */
export const MAX_QUEUED = { maxRows: 10_000, maxBytes: 64 * 1024 * 1024 } as const;

/** Share of the queue for callers without an accepted token, since anybody can send such requests. */
const UNACCEPTED_SHARE = 1 / 4;

/** Maximum number of rows of one transaction, and of bytes above which it gets no more rows. */
const GROUP_ROWS = 1000;
const GROUP_BYTES = 4 * 1024 * 1024;
const MAX_PAUSE_MS = 5000;

const QUEUE_FULL = "The audit queue is full.";

/** Options of a write queue. */
export interface WriteQueueOptions {
  /**
   * Writes all rows in one transaction, or none. Rows that are already stored are not changed. Returns the bytes that the
   * records take in the store.
   */
  readonly commit: (rows: readonly StoredRow[]) => Promise<number>;
  /** After a failed commit `relaxed` rows return to the queue. `strict` rows are dropped, since clients wait for them. */
  readonly durability: AuditDurability;
  /** Milliseconds for which the first row of a relaxed group waits for more. */
  readonly groupMs: number;
  /**
   * Above one of both limits rows are dropped: the oldest of callers without an accepted token first, then the oldest of clients
   * with an average share or more.
   */
  readonly maxRows: number;
  readonly maxBytes: number;
  /** Called with the error of the first of several failed commits. */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

/** The bounded queue in front of a store. */
export interface WriteQueue {
  /** Like `AuditStore.append`. */
  readonly push: (record: AuditRecord) => void | Promise<void>;
  readonly stats: () => Omit<AuditStats, "evicted">;
  /** Commits an empty group, unless a commit is running or planned, to check whether the store works. */
  readonly probe: () => void;
  /** Why the last commit failed; undefined if it succeeded. */
  readonly fault: () => string | undefined;
  readonly close: () => Promise<void>;
}

/** The client that waits for a strict record. */
type Waiter = Pick<PromiseWithResolvers<void>, "resolve" | "reject">;

/** Creates the bounded queue in front of a store. Rows are committed in groups, one group at a time. */
export function createWriteQueue(options: WriteQueueOptions): WriteQueue {
  const { commit, durability, groupMs, maxRows, maxBytes } = options;
  const freeChunks: Chunk[] = [];
  let accepted = new RowQueue(freeChunks);
  /** Rows that were older than those that had to be dropped. */
  let spared = new RowQueue(freeChunks);
  const unaccepted = new RowQueue(freeChunks);
  const clients = new WaitingClients({ maxRows, maxBytes });
  const clientOf = ({ accepted, client }: RecordColumns): string | null => (accepted ? client : null);
  const queueOf = (row: RecordColumns): RowQueue => (clientOf(row) === null ? unaccepted : accepted);
  const waiters = new Map<StoredRow, Waiter>();
  const count = (): number => accepted.length + spared.length + unaccepted.length;
  const bytes = (): number => accepted.bytes + spared.bytes + unaccepted.bytes;
  let inFlight = 0;
  let dropped = 0;
  let written = 0;
  let recordBytes = 0;
  let storedBytes = 0;
  let commits = 0;
  let commitMs = 0;
  let errors = 0;
  let failures = 0;
  let fault: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  function push(record: AuditRecord): void | Promise<void> {
    if (durability === "relaxed") return enqueue(record);
    const { promise, ...waiter } = Promise.withResolvers<void>();
    enqueue(record, waiter);
    return promise;
  }

  function enqueue(record: AuditRecord, waiter?: Waiter): void {
    if (closed) return drop(waiter, "The audit store is closed.");
    try {
      const columns = columnsOf(record);
      const line = queueOf(columns);
      const row = Object.assign(columns, line.memory.write(serializeRecord(record)));
      line.push(row);
      countRow(row, 1);
      if (waiter) waiters.set(row, waiter);
    } catch (error) {
      return drop(waiter, "The audit record can't be serialised as JSON.", error);
    }
    trim();
    // A client waits for a strict record, so it does not wait for the pause after a failure.
    if (durability === "strict" || (failures === 0 && isGroupFull())) stopTimer();
    schedule();
  }

  function trim(): void {
    const rows = maxRows * UNACCEPTED_SHARE;
    while (unaccepted.length > rows || unaccepted.bytes > maxBytes * UNACCEPTED_SHARE) dropOldest(unaccepted);
    while ((count() + inFlight > maxRows || bytes() > maxBytes) && count() > 0)
      if (unaccepted.length > 0) dropOldest(unaccepted);
      else dropOfLargeClient();
  }

  function countRow(row: PendingRow, rows: 1 | -1): void {
    const client = clientOf(row);
    if (client !== null) clients.add(client, rows, rows * row.size);
  }

  /** Drops a row of a client with a large share. Older rows of other clients are spared. */
  function dropOfLargeClient(): void {
    for (;;) {
      if (accepted.length === 0) [accepted, spared] = [spared, accepted];
      const oldest = accepted.shift();
      if (!oldest) return;
      if (clients.isLarge(oldest.client ?? "")) return drop(release(oldest), QUEUE_FULL);
      spare(oldest);
    }
  }

  /** Copies the record: the chunk that it is in would wait for it, although all others in it are dropped. */
  function spare(row: PendingRow): void {
    const { chunk, start, size } = row;
    const text = chunk.bytes.subarray(start, start + size - 1);
    Object.assign(row, spared.memory.write({ parts: [text, "\n"], size }));
    accepted.memory.release(chunk);
    spared.push(row);
  }

  function dropOldest(line: RowQueue): void {
    const oldest = line.shift();
    if (oldest) drop(release(oldest), QUEUE_FULL);
  }

  /** Frees the memory of a row that has been committed or is dropped. @returns The client that waits for it. */
  function release(row: PendingRow): Waiter | undefined {
    queueOf(row).memory.release(row.chunk);
    countRow(row, -1);
    const waiter = waiters.get(row);
    waiters.delete(row);
    return waiter;
  }

  function drop(waiter: Waiter | undefined, reason: string, cause?: unknown): void {
    dropped += 1;
    waiter?.reject(new AuditUnavailableError(reason, { cause }));
  }

  /** After a failure an empty group is scheduled, too: it checks whether the store works again. */
  function schedule(): void {
    if (timer || running || (count() === 0 && failures === 0)) return;
    timer = setTimeout(() => {
      timer = undefined;
      void run();
    }, pause());
  }

  function stopTimer(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function pause(): number {
    if (durability === "strict" && count() > 0) return 0;
    if (failures > 0) return Math.min(groupMs * 2 ** failures, MAX_PAUSE_MS);
    return isGroupFull() ? 0 : groupMs;
  }

  const isGroupFull = (): boolean => count() >= GROUP_ROWS || bytes() > GROUP_BYTES;

  function run(): Promise<void> {
    running ??= commitGroup().finally(() => {
      running = undefined;
      if (!closed) schedule();
    });
    return running;
  }

  /** The next group: rows of known callers before those of strangers. */
  function takeGroup(): PendingRow[] {
    const group: PendingRow[] = [];
    let groupBytes = 0;
    while (group.length < GROUP_ROWS && groupBytes <= GROUP_BYTES) {
      const next = spared.shift() ?? accepted.shift() ?? unaccepted.shift();
      if (!next) break;
      group.push(next);
      groupBytes += next.size;
    }
    return group;
  }

  async function commitGroup(): Promise<void> {
    const group = takeGroup();
    inFlight = group.length;
    const startedAt = performance.now();
    try {
      storedBytes += await commit(group);
      if (group.length > 0) {
        commits += 1;
        commitMs += performance.now() - startedAt;
      }
      inFlight = 0;
      failures = 0;
      fault = undefined;
      written += group.length;
      for (const row of group) {
        recordBytes += row.size;
        release(row)?.resolve();
      }
    } catch (error) {
      inFlight = 0;
      errors += 1;
      failures += 1;
      if (failures === 1) options.onFault?.(error);
      fault = error instanceof Error ? error.message : String(error);
      requeue(group, error);
    }
  }

  function requeue(group: readonly PendingRow[], error: unknown): void {
    if (durability === "strict" || closed) {
      for (const row of group) drop(release(row), "The audit record could not be written.", error);
      return;
    }
    for (const line of [accepted, unaccepted]) line.unshift(group.filter((row) => queueOf(row) === line));
    trim();
  }

  function probe(): void {
    if (!closed && !running && !timer) void run();
  }

  /** Commits all rows. After a failure the rows are dropped, so that this ends. */
  async function close(): Promise<void> {
    closed = true;
    stopTimer();
    await running;
    while (count() > 0) await run();
  }

  return {
    push,
    probe,
    close,
    fault: () => fault,
    stats: () => ({
      queued: count() + inFlight,
      dropped,
      written,
      errors,
      recordBytes,
      storedBytes,
      commits,
      commitSeconds: commitMs / 1000,
    }),
  };
}
