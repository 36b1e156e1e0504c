import type { Program, RegexProgram, Step } from "./pattern-program.ts";

/** Start and end positions of all groups. The first two belong to the whole match. */
type Captures = readonly (number | undefined)[];

/** Maximum number of steps of all calls of one matcher: about 50 ms. */
const MAX_STEPS = 1_000_000;

/** A text is too long for a regular expression: the linear engine reached its limit of steps. */
export class RegexLimitError extends Error {
  override readonly name = "RegexLimitError";
  readonly code = "AG_REGEX_LIMIT";
  /** JSONata's code for an evaluation that takes too long. */
  readonly jsonataCode = "D1012";
}

const isLineEnd = (code: number): boolean => code === 10 || code === 13 || code === 0x2028 || code === 0x2029;

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || (code >= 97 && code <= 122);

const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/**
 * The threads at one position of the text, by priority. Each step has at most one thread: a second thread at the same
 * step could only fail like the first.
 */
class Threads {
  readonly steps: number[] = [];
  readonly captures: (Captures | undefined)[] = [];
  count = 0;
  readonly #seen: Uint32Array;
  #round = 0;

  constructor(size: number) {
    this.#seen = new Uint32Array(size);
  }

  clear(): void {
    this.count = 0;
    this.#round += 1;
  }

  /** Whether a thread reaches a step first. */
  reaches(step: number): boolean {
    if (this.#seen[step] === this.#round) return false;
    this.#seen[step] = this.#round;
    return true;
  }

  add(step: number, captures: Captures | undefined): void {
    this.steps[this.count] = step;
    this.captures[this.count] = captures;
    this.count += 1;
  }
}

function updateCaptures(captures: Captures, step: Step & { op: "save" | "reset" }, at: number): Captures {
  const copy = captures.slice();
  if (step.op === "save") copy[step.slot] = at;
  else copy.fill(undefined, step.from, step.to + 1);
  return copy;
}

/**
 * Runs a program as Thompson's and Pike's machines do: it follows all alternatives at once, character by character. The
 * time is at most proportional to the product of the lengths of program and text. The matches are those of JavaScript's
 * backtracking engine.
 */
export class LinearRegex {
  lastIndex = 0;
  /** Number of steps of the last call. */
  work = 0;
  readonly #program: RegexProgram;
  readonly #name: string;
  #now: Threads;
  #next: Threads;
  #stepsLeft = MAX_STEPS;
  #text: string | undefined;
  /** For each look-around, the positions of the text where it matches. */
  #holds: Uint8Array[] = [];

  /** @param name The pattern as a string. Ajv uses it as the cache key for the patterns of a schema */
  constructor(program: RegexProgram, name: string) {
    this.#program = program;
    this.#name = name;
    const size = Math.max(...[program, ...program.looks].map(({ steps }) => steps.length));
    this.#now = new Threads(size);
    this.#next = new Threads(size);
  }

  toString(): string {
    return this.#name;
  }

  /** Whether the text matches. @throws {RegexLimitError} If the text is too long. */
  test(text: string): boolean {
    this.#stepsLeft = MAX_STEPS;
    this.work = 0;
    return this.#search(text, 0, undefined) !== undefined;
  }

  /** Finds the first match from `lastIndex`, like `RegExp.exec`. @throws {RegexLimitError} If the text is too long. */
  exec(text: string): RegExpExecArray | null {
    const from = this.lastIndex;
    this.work = 0;
    if (from === 0) this.#stepsLeft = MAX_STEPS;
    const found = from > text.length ? undefined : this.#search(text, from, []);
    this.lastIndex = found?.[1] ?? 0;
    if (!found) return null;
    const match = Array.from({ length: this.#program.groups + 1 }, (_, group) => {
      const [start, end] = [found[2 * group], found[2 * group + 1]];
      return start === undefined || end === undefined ? undefined : text.slice(start, end);
    });
    return Object.assign(match, { index: found[0] ?? 0, input: text }) as RegExpExecArray;
  }

  /** Finds the first match. @param captures the captures at its start; undefined if they don't matter */
  #search(text: string, from: number, captures: Captures | undefined): Captures | undefined {
    if (this.#program.anchored && from > 0) return undefined;
    if (text !== this.#text) {
      this.#text = undefined;
      this.#holds = [];
      // Inner look-arounds come first.
      for (const look of this.#program.looks) this.#holds.push(this.#findPlaces(look, text));
    }
    const found = this.#run(this.#program, text, from, captures);
    this.#text = captures && text;
    return found;
  }

  /**
   * Finds the positions where a look-around matches. A look-ahead runs from the end of the text, and a look-behind from
   * its start, so that it ends at its position.
   */
  #findPlaces(look: Program, text: string): Uint8Array {
    const places = new Uint8Array(text.length + 1);
    this.#run(look, text, look.backwards ? text.length : 0, undefined, places);
    return places;
  }

  /** Returns the character that a program reads at a position; -1 at the end of the text. */
  #character(text: string, at: number, backwards: boolean): number {
    const index = backwards ? at - 1 : at;
    if (index < 0 || index >= text.length) return -1;
    const code = text.charCodeAt(index);
    if (!this.#program.unicode) return code;
    if (!backwards) return text.codePointAt(index) ?? -1;
    return isLow(code) && isHigh(text.charCodeAt(index - 1)) ? (text.codePointAt(index - 1) ?? -1) : code;
  }

  #spend(steps: number): void {
    this.#stepsLeft -= steps;
    this.work += steps;
    if (this.#stepsLeft < 0)
      throw new RegexLimitError("the regular expression took too many steps on this text");
  }

  /**
   * Follows all alternatives through the text.
   *
   * @param captures undefined if only the existence of a match matters: it then ends with the first match
   * @param places receives all positions where a match ends. Without it, the first match is returned.
   */
  #run(
    { steps, backwards }: Program,
    text: string,
    from: number,
    captures: Captures | undefined,
    places?: Uint8Array,
  ): Captures | undefined {
    const isAnchored = this.#program.anchored && !places;
    let found: Captures | undefined;
    this.#now.clear();
    for (let at = from; ;) {
      if (found === undefined && (at === from || !isAnchored))
        this.#follow(steps, 0, captures, this.#now, text, at);
      const code = this.#character(text, at, backwards);
      const to = at + (backwards ? -1 : 1) * (code > 0xffff ? 2 : 1);
      this.#next.clear();
      const { count, steps: current, captures: saved } = this.#now;
      for (let index = 0; index < count; index += 1) {
        const stepIndex = current[index] ?? 0;
        const step = steps[stepIndex] as Step;
        if (step.op === "take") {
          if (code >= 0 && step.takes(code))
            this.#follow(steps, stepIndex + 1, saved[index], this.#next, text, to);
        } else if (places) places[at] = 1;
        else if (captures === undefined) return [];
        else {
          found = saved[index] ?? [];
          break;
        }
      }
      this.#spend(count + 1);
      const isOver = found !== undefined || isAnchored;
      if (code < 0 || (isOver && this.#next.count === 0)) return found;
      [this.#now, this.#next] = [this.#next, this.#now];
      at = to;
    }
  }

  /** Adds all steps that are reachable from a step without reading a character. */
  #follow(
    steps: readonly Step[],
    index: number,
    captures: Captures | undefined,
    threads: Threads,
    text: string,
    at: number,
  ): void {
    let [next, current] = [index, captures];
    let taken = 1;
    for (; threads.reaches(next); taken += 1) {
      const step = steps[next] as Step;
      next += 1;
      if (step.op === "take" || step.op === "match") {
        threads.add(next - 1, current);
        break;
      }
      if (step.op === "jump") next = step.next;
      else if (step.op === "split") {
        // The depth of the recursion is at most the number of steps.
        this.#follow(steps, step.next, current, threads, text, at);
        next = step.other;
      } else if (step.op === "assertion") {
        if (!this.#asserts(step.what, text, at)) break;
      } else if (step.op === "look") {
        if ((this.#holds[step.index]?.[at] === 1) === step.negative) break;
      } else if (current) {
        current = updateCaptures(current, step, at);
        taken += current.length >> 2;
      }
    }
    this.#spend(taken);
  }

  #asserts(what: "^" | "$" | "b" | "B", text: string, at: number): boolean {
    const { multiline } = this.#program;
    if (what === "^") return at === 0 || (multiline && isLineEnd(text.charCodeAt(at - 1)));
    if (what === "$") return at === text.length || (multiline && isLineEnd(text.charCodeAt(at)));
    const between = isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at));
    return between === (what === "b");
  }
}
