/** Patterns of documents, which may take for ever. */
import { createContext, Script } from "node:vm";

/** Longest time that a pattern has for one text. */
const TIMEOUT_MS = 50;
/** Results that are kept. */
const MAX_CACHED = 5000;

const context = createContext(Object.create(null) as object);
const script = new Script("new RegExp(pattern, 'u').test(text)");

/** Tests texts by patterns. A pattern that is invalid, or that took too long once, is not asked again. */
export class BoundedPatterns {
  readonly #results = new Map<string, boolean>();
  readonly #refused = new Set<string>();

  /** Whether a text matches; undefined if the pattern can't say that. */
  test(pattern: string, text: string): boolean | undefined {
    if (this.#refused.has(pattern)) return undefined;
    const key = JSON.stringify([pattern, text]);
    const known = this.#results.get(key);
    if (known !== undefined) return known;
    try {
      Object.assign(context, { pattern, text });
      const result = script.runInContext(context, { timeout: TIMEOUT_MS }) as boolean;
      if (this.#results.size >= MAX_CACHED) this.#results.clear();
      this.#results.set(key, result);
      return result;
    } catch {
      this.#refused.add(pattern);
      return undefined;
    }
  }
}
