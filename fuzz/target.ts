/** What is fuzzed: something that takes text from outside, and what must hold whatever the text is. */
export interface Target {
  readonly name: string;
  /** What is looked at, for the table. */
  readonly subject: string;
  /** Only what these parts of `src/` do counts as new: the rest would be noise. */
  readonly covers: readonly string[];
  /** Well-formed inputs to begin with. */
  readonly seeds: readonly string[];
  /** Words that chance alone would seldom write. */
  readonly dictionary: readonly string[];
  /** Inputs may grow to so many characters. */
  readonly longest: number;
  /** Runs one input. @throws {Error} for anything but what the subject promises: that is a crash. */
  run(input: string): void | Promise<void>;
}

/** A promise that was broken. */
export function hold(promise: string, holds: boolean): void {
  if (!holds) throw new Error(`does not hold: ${promise}`);
}
