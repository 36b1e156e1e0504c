/** A fuzz target: code that takes text from outside, and the properties that must hold for every text. */
export interface Target {
  readonly name: string;
  /** The subject, for the table. */
  readonly subject: string;
  /** Only coverage in these parts of `src/` counts; the rest would be noise. */
  readonly covers: readonly string[];
  /** Well-formed inputs to start with. */
  readonly seeds: readonly string[];
  /** Tokens that random changes would seldom produce. */
  readonly dictionary: readonly string[];
  /** The maximum length of an input in characters. */
  readonly longest: number;
  /**
   * Runs one input.
   *
   * @returns how many comparisons it made; nothing where nobody counts them
   * @throws {Error} if a property does not hold: that is a crash
   */
  run(input: string): void | number | Promise<void>;
}

/** A property that did not hold. */
export function hold(promise: string, holds: boolean): void {
  if (!holds) throw new Error(`does not hold: ${promise}`);
}
