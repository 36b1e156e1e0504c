/** The patterns of a document: whether texts have them, and a short text that has one. */
import * as fc from "fast-check";
import { prepareRegex, type Regex, RegexLimitError } from "../../jsonata/index.ts";

const MAX_PATTERN = 2_000;

/** Prepares a pattern to run in linear time. @returns undefined if it is invalid, or can't run in linear time */
function prepare(pattern: string): Regex | undefined {
  if (pattern.length > MAX_PATTERN) return undefined;
  // Documents also have patterns that are only valid without the flag `u`.
  for (const flags of ["u", ""])
    try {
      return prepareRegex(new RegExp(pattern, flags).source, flags)();
    } catch {
      continue;
    }
  return undefined;
}

/** Matches patterns in linear time. One that can't, or that once needed too many steps, is not tried. */
export class Patterns {
  readonly #prepared = new Map<string, Regex | undefined>();

  /** The patterns that can't be checked. */
  get unusable(): string[] {
    return [...this.#prepared].flatMap(([pattern, regex]) => (regex ? [] : [pattern]));
  }

  /** Whether a text has a pattern; undefined if that can't be known. */
  test(pattern: string, text: string): boolean | undefined {
    if (!this.#prepared.has(pattern)) this.#prepared.set(pattern, prepare(pattern));
    try {
      return this.#prepared.get(pattern)?.test(text);
    } catch (error) {
      if (!(error instanceof RegexLimitError)) throw error;
      this.#prepared.set(pattern, undefined);
      return undefined;
    }
  }
}

/** A short text that matches a pattern. @returns undefined for an invalid pattern, and for one with a look-around or a back reference */
export function textOfPattern(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return undefined;
  try {
    return fc.sample(fc.stringMatching(new RegExp(pattern, "u"), { size: "xsmall" }), {
      seed: 1,
      numRuns: 1,
    })[0];
  } catch {
    return undefined;
  }
}
