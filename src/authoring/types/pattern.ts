/** Whether texts have the patterns of a document. A pattern can take longer than anybody waits. */
import { createContext, Script } from "node:vm";

/** Milliseconds for one text. */
const TIMEOUT_MS = 250;
/** Patterns that may need too long. After those no pattern is tried. */
const MOST_UNUSABLE = 20;
const MAX_CACHED = 20_000;
const MAX_PATTERN = 2_000;

const TEST = new Script("new RegExp(pattern, 'u').test(text)");
const TEST_LOOSE = new Script("new RegExp(pattern).test(text)");

/** Matches patterns within a time. A pattern that needed too long once, or is none, is not tried again. */
export class Patterns {
  readonly #results = new Map<string, boolean>();
  readonly #unusable = new Set<string>();
  readonly #tested: { pattern: string; text: string } = { pattern: "", text: "" };
  readonly #context = createContext(this.#tested);

  /** The patterns that can't be checked. */
  get unusable(): ReadonlySet<string> {
    return this.#unusable;
  }

  /** Whether a text has a pattern; undefined if that can't be known. */
  test(pattern: string, text: string): boolean | undefined {
    if (pattern.length > MAX_PATTERN || this.#unusable.size >= MOST_UNUSABLE) this.#unusable.add(pattern);
    if (this.#unusable.has(pattern)) return undefined;
    const key = `${pattern}\n${text}`;
    const known = this.#results.get(key);
    if (known !== undefined) return known;
    const result = this.#run(pattern, text);
    if (result === undefined) this.#unusable.add(pattern);
    else if (this.#results.size < MAX_CACHED) this.#results.set(key, result);
    return result;
  }

  #run(pattern: string, text: string): boolean | undefined {
    Object.assign(this.#tested, { pattern, text });
    for (const script of [TEST, TEST_LOOSE])
      try {
        return script.runInContext(this.#context, { timeout: TIMEOUT_MS }) === true;
      } catch (error) {
        if ((error as { code?: string }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return undefined;
      }
    return undefined;
  }
}
