/** Which clients write, and when they wrote last: an answer that was read while its client wrote says nothing. */
import { LRUCache } from "lru-cache";

/** Writes of one client. */
interface Writes {
  inFlight: number;
  /** Milliseconds since the epoch. */
  lastEnd: number;
  /** How many have begun. */
  begun: number;
}

/** Clients whose last write is remembered. A forgotten one wrote longer ago than this many others. */
const MAX_CLIENTS = 20_000;

/** Keeps comparisons and the writes of the same client apart (rule 2 of comparisons). */
export class WriteFence {
  readonly #lagMs: () => number;
  readonly #clock: () => number;
  readonly #writes = new LRUCache<string, Writes>({ max: MAX_CLIENTS });

  /** @param lagMs how long a write may take until both services show it */
  constructor(lagMs: () => number, clock: () => number = Date.now) {
    this.#lagMs = lagMs;
    this.#clock = clock;
  }

  /** Notes that a write of a client has begun. @returns to be called once, at its end */
  begin(client: string): () => void {
    const writes = this.#writes.get(client) ?? { inFlight: 0, lastEnd: 0, begun: 0 };
    this.#writes.set(client, writes);
    writes.inFlight += 1;
    writes.begun += 1;
    return () => {
      writes.inFlight -= 1;
      writes.lastEnd = this.#clock();
    };
  }

  /**
   * Begins to read for a comparison.
   *
   * @returns undefined if a write of the client is in flight or too young; else whether none has begun since, to be called
   *   when all answers are there
   */
  enter(client: string): (() => boolean) | undefined {
    const before = this.#writes.get(client);
    if (before && (before.inFlight > 0 || this.#clock() - before.lastEnd < this.#lagMs())) return undefined;
    const begun = before?.begun ?? 0;
    return () => (this.#writes.get(client)?.begun ?? 0) === begun;
  }
}
