/** How much the store has of something that has a limit. */
import type { Connection } from "./driver.ts";

type Query = Connection["query"];

/**
 * An amount that has a limit: rows of a table, or bytes. It is measured seldom, because that reads an index. What commits
 * add in between is counted, and is an upper bound.
 */
export class StoredAmount {
  readonly #measure: (query: Query) => Promise<number>;
  readonly #everyMs: number;
  #amount = 0;
  #measuredAt = -Infinity;
  #isExceeded = false;

  /** @param everyMs After how long it is measured again: other processes may write to the same store */
  constructor(measure: (query: Query) => Promise<number>, everyMs: number) {
    this.#measure = measure;
    this.#everyMs = everyMs;
  }

  /** Adds what a commit adds at most. */
  add(amount: number): void {
    this.#amount += amount;
  }

  /**
   * By how much the store exceeds a limit, or 0. Once it does, it is cut to what is kept of the limit.
   *
   * @param kept How much is left after the cut
   */
  async excess(query: Query, limit: number, kept = limit): Promise<number> {
    const now = performance.now();
    if (this.#isExceeded || this.#amount > limit || now - this.#measuredAt > this.#everyMs) {
      this.#amount = await this.#measure(query);
      this.#measuredAt = now;
    }
    this.#isExceeded = this.#amount > (this.#isExceeded ? kept : limit);
    return this.#isExceeded ? this.#amount - kept : 0;
  }
}
