/** The stored amount of data that has a limit. */
import type { Connection } from "./driver.ts";

type Query = Connection["query"];

/**
 * An amount that has a limit: rows of a table, or bytes. It is rarely measured, because that reads an index. In
 * between, the rows that commits add are counted, which results in an upper bound.
 */
export class StoredAmount {
  readonly #measure: (query: Query) => Promise<number>;
  readonly #everyMs: number;
  #amount = 0;
  #measuredAt = -Infinity;
  #isExceeded = false;

  /** @param everyMs milliseconds until it is measured again, because other processes may write to the same store */
  constructor(measure: (query: Query) => Promise<number>, everyMs: number) {
    this.#measure = measure;
    this.#everyMs = everyMs;
  }

  /** Adds an upper bound of the amount that a commit adds. */
  add(amount: number): void {
    this.#amount += amount;
  }

  /**
   * Returns the amount by which the store exceeds a limit, or 0. If it does, it is reduced to `kept`.
   *
   * @param kept the amount after the reduction
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
