/** Sends the waiting notices, one at a time to each receiver, with growing pauses after failures. */
import type { NoticeResult } from "./notice.ts";
import type { Waiting } from "./stored-notices.ts";
import { SendError } from "./webhook.ts";

/** Pause after the first failure of a receiver in milliseconds. It doubles with each consecutive failure. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 600_000;
/** Milliseconds after which an unsent notice is dropped, because a notice that is a day old would be misleading. */
const MAX_AGE_MS = 24 * 3_600_000;

interface DeliveryOptions {
  /** Returns the waiting notices, the oldest first. */
  readonly waiting: () => readonly Waiting[];
  /** Whether a receiver is in the file. Notices for other receivers wait until a file contains them. */
  readonly isReceiver: (name: string) => boolean;
  /** Sends a notice. @throws {SendError} */
  readonly send: (entry: Waiting, signal: AbortSignal) => Promise<unknown>;
  /** Removes sent and dropped notices from the waiting ones. */
  readonly remove: (ids: ReadonlySet<string>) => Promise<void>;
  /** Called for each attempt and for the end of each notice. `isFirst`: the receiver did not fail before. */
  readonly onResult: (entry: Waiting, result: NoticeResult, reason: string, isFirst: boolean) => void;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

/** The failures of a receiver. */
interface Failing {
  readonly failures: number;
  /** The time before which nothing is sent to the receiver. */
  readonly until: number;
}

/**
 * Returns the pause after a number of consecutive failures. Half of it is random, so that replicas do not retry at the
 * same time.
 */
function pauseAfter(failures: number): number {
  const whole = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return whole * (0.5 + Math.random() / 2);
}

export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #failing = new Map<string, Failing>();
  /**
   * Number of attempts by id. The notice with the fewest failures is sent next, so that a notice that always fails does
   * not block others.
   */
  readonly #attempts = new Map<string, number>();
  /** Ids of notices that were sent or dropped, and are still in the store. */
  readonly #done = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  #isClosed = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Number of receivers whose last attempt failed. */
  get failing(): number {
    return this.#failing.size;
  }

  /** Starts to send to each receiver with waiting notices. @throws {StateUnavailableError} */
  async start(): Promise<void> {
    const { waiting, isReceiver, clock } = this.#options;
    await this.#removeDone();
    await this.#dropOld();
    for (const to of new Set(waiting().map((entry) => entry.to))) {
      const isPaused = (this.#failing.get(to)?.until ?? 0) > clock();
      if (isPaused || this.#running.has(to) || !isReceiver(to)) continue;
      this.#running.set(
        to,
        this.#run(to).finally(() => this.#running.delete(to)),
      );
    }
  }

  /** Waits for attempts for some time, then aborts them: their notices are not marked as sent. Never rejects. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    const timer = setTimeout(() => this.#closing.abort(), graceMs);
    await Promise.all(this.#running.values());
    clearTimeout(timer);
    await this.#removeDone().catch(() => {});
  }

  #next(to: string): Waiting | undefined {
    const attemptsOf = ({ id }: Waiting): number => this.#attempts.get(id) ?? 0;
    return this.#options
      .waiting()
      .filter((entry) => entry.to === to && !this.#done.has(entry.id))
      .reduce<Waiting | undefined>(
        (least, entry) => (least && attemptsOf(least) <= attemptsOf(entry) ? least : entry),
        undefined,
      );
  }

  async #run(to: string): Promise<void> {
    for (;;) {
      const entry = this.#isClosed ? undefined : this.#next(to);
      if (!entry) return;
      const problem = await this.#attempt(entry);
      if (this.#closing.signal.aborted) return;
      if (problem !== undefined) return this.#pause(entry, problem);
      this.#failing.delete(to);
      this.#finish(entry, "sent", "");
      // If the store fails, a later start removes the sent notices. In the meantime, they are not sent again.
      await this.#removeDone().catch(() => {});
    }
  }

  /** Sends a notice once. @returns why it was not sent; undefined if it was */
  async #attempt(entry: Waiting): Promise<string | undefined> {
    try {
      await this.#options.send(entry, this.#closing.signal);
      return undefined;
    } catch (error) {
      return error instanceof SendError ? error.message : (error as Error).name;
    }
  }

  #pause(entry: Waiting, problem: string): void {
    const { onResult, clock } = this.#options;
    const failures = (this.#failing.get(entry.to)?.failures ?? 0) + 1;
    this.#failing.set(entry.to, { failures, until: clock() + pauseAfter(failures) });
    this.#attempts.set(entry.id, (this.#attempts.get(entry.id) ?? 0) + 1);
    onResult(entry, "failed", problem, failures === 1);
  }

  #finish(entry: Waiting, result: NoticeResult, reason: string): void {
    this.#done.add(entry.id);
    this.#attempts.delete(entry.id);
    this.#options.onResult(entry, result, reason, true);
  }

  async #dropOld(): Promise<void> {
    const { waiting, clock } = this.#options;
    const old = waiting().filter(({ id, at }) => at + MAX_AGE_MS <= clock() && !this.#done.has(id));
    for (const entry of old)
      if (!this.#running.has(entry.to)) this.#finish(entry, "dropped", "not sent in a day");
    if (old.length > 0) await this.#removeDone();
  }

  async #removeDone(): Promise<void> {
    const ids = new Set(this.#done);
    if (ids.size === 0) return;
    await this.#options.remove(ids);
    for (const id of ids) this.#done.delete(id);
  }
}
