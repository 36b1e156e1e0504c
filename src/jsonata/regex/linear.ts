import type { LookAround, RegexProgram, Step } from "./pattern-program.ts";

/** Start and end positions of all groups. The first two belong to the whole match. */
type Captures = readonly (number | undefined)[];

/** Maximum number of steps of all calls of one matcher: about 30 ms. */
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
  readonly at: Int32Array;
  readonly captures: (Captures | undefined)[] = [];
  count = 0;
  readonly #seen: Uint32Array;
  #round = 0;

  constructor(size: number) {
    this.at = new Int32Array(size);
    this.#seen = new Uint32Array(size);
  }

  clear(): void {
    this.count = 0;
    this.#round += 1;
  }

  /** Adds a thread at a step. Returns false if a thread is already at this step. */
  enter(step: number): boolean {
    if (this.#seen[step] === this.#round) return false;
    this.#seen[step] = this.#round;
    return true;
  }

  add(step: number, captures: Captures | undefined): void {
    this.at[this.count] = step;
    if (captures) this.captures[this.count] = captures;
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
  readonly #program: RegexProgram;
  readonly #name: string;
  #now: Threads;
  #next: Threads;
  /** Number of steps of the last call. */
  work = 0;
  #stepsLeft = MAX_STEPS;
  /** For each look-around, the positions where it matches in the last text. */
  #holds: readonly Uint8Array[] = [];
  #text: string | undefined;
  readonly #waiting: number[] = [];
  readonly #waitingCaptures: (Captures | undefined)[] = [];

  /** @param name The pattern as a string. Ajv uses it as the cache key for the patterns of a schema */
  constructor(program: RegexProgram, name: string) {
    this.#program = program;
    this.#name = name;
    const size = Math.max(program.steps.length, ...program.looks.map(({ steps }) => steps.length));
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
    return this.#run(text, 0, false) !== undefined;
  }

  /** Finds the first match from `lastIndex`, like `RegExp.exec`. @throws {RegexLimitError} If the text is too long. */
  exec(text: string): RegExpExecArray | null {
    const from = this.lastIndex;
    this.work = 0;
    if (from === 0) this.#stepsLeft = MAX_STEPS;
    const found = from > text.length ? undefined : this.#run(text, from, true);
    this.lastIndex = found?.[1] ?? 0;
    if (!found) return null;
    const match = Array.from({ length: this.#program.groups + 1 }, (_, group) => {
      const [start, end] = [found[2 * group], found[2 * group + 1]];
      return start === undefined || end === undefined ? undefined : text.slice(start, end);
    });
    return Object.assign(match, { index: found[0] ?? 0, input: text }) as RegExpExecArray;
  }

  #spend(steps: number): void {
    this.#stepsLeft -= steps;
    this.work += steps;
    if (this.#stepsLeft < 0)
      throw new RegexLimitError("the regular expression took too many steps on this text");
  }

  /** Returns the character after a position (`backwards`: before it). -1 if there is none. */
  #character(text: string, at: number, backwards: boolean): number {
    const index = backwards ? at - 1 : at;
    if (index < 0 || index >= text.length) return -1;
    const code = text.charCodeAt(index);
    if (!this.#program.unicode) return code;
    if (!backwards) return text.codePointAt(index) ?? -1;
    return isLow(code) && isHigh(text.charCodeAt(index - 1)) ? (text.codePointAt(index - 1) ?? -1) : code;
  }

  #run(text: string, from: number, captures: boolean): Captures | undefined {
    const { steps, anchored, groups } = this.#program;
    if (anchored && from > 0) return undefined;
    if (text !== this.#text) this.#lookAround(text);
    const none: Captures | undefined = captures ? Array.from({ length: 2 * groups + 2 }) : undefined;
    let found: Captures | undefined;
    this.#now.clear();
    for (let at = from; ;) {
      if (found === undefined && (at === from || !anchored))
        this.#follow(steps, 0, none, this.#now, text, at);
      const code = this.#character(text, at, false);
      const width = code > 0xffff ? 2 : 1;
      this.#next.clear();
      const threads = this.#now;
      for (let index = 0; index < threads.count; index += 1) {
        const stepIndex = threads.at[index] ?? 0;
        const step = steps[stepIndex] as Step;
        const current = captures ? threads.captures[index] : undefined;
        if (step.op === "match") {
          found = current ?? [];
          if (!captures) return found;
          break;
        }
        if (step.op === "take" && code >= 0 && step.takes(code))
          this.#follow(steps, stepIndex + 1, current, this.#next, text, at + width);
      }
      this.#spend(threads.count + 1);
      if (code < 0 || (this.#next.count === 0 && (found !== undefined || anchored))) break;
      [this.#now, this.#next] = [this.#next, this.#now];
      at += width;
    }
    this.#text = captures ? text : undefined;
    return found;
  }

  /** Adds all steps that are reachable from a step without reading a character. */
  #follow(
    steps: readonly Step[],
    first: number,
    captures: Captures | undefined,
    threads: Threads,
    text: string,
    at: number,
  ): void {
    const [waiting, waitingCaptures] = [this.#waiting, this.#waitingCaptures];
    let taken = 0;
    let top = 0;
    waiting[0] = first;
    waitingCaptures[0] = captures;
    while (top >= 0) {
      let stepIndex = waiting[top] as number;
      let current = waitingCaptures[top];
      top -= 1;
      taken += 1;
      for (; threads.enter(stepIndex); taken += 1) {
        const step = steps[stepIndex] as Step;
        if (step.op === "take" || step.op === "match") {
          threads.add(stepIndex, current);
          break;
        }
        if (step.op === "jump") stepIndex = step.next;
        else if (step.op === "split") {
          top += 1;
          waiting[top] = step.other;
          waitingCaptures[top] = current;
          stepIndex = step.next;
        } else {
          if (step.op === "assertion" && !this.#asserts(step.what, text, at)) break;
          if (step.op === "look" && (this.#holds[step.index]?.[at] === 1) === step.negative) break;
          if (current && (step.op === "save" || step.op === "reset")) {
            current = updateCaptures(current, step, at);
            taken += current.length >> 2;
          }
          stepIndex += 1;
        }
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

  /** Finds the positions where look-arounds match. Inner ones come first. */
  #lookAround(text: string): void {
    const found: Uint8Array[] = [];
    // Until all positions are found, the cached positions belong to no text.
    this.#text = undefined;
    this.#holds = found;
    for (const look of this.#program.looks) found.push(this.#placesOf(look, text));
  }

  /** Runs a look-ahead from the end of the text, and a look-behind from its start, so that it ends at its position. */
  #placesOf({ steps, ahead }: LookAround, text: string): Uint8Array {
    const places = new Uint8Array(text.length + 1);
    this.#now.clear();
    for (let at = ahead ? text.length : 0; ;) {
      this.#follow(steps, 0, undefined, this.#now, text, at);
      const code = this.#character(text, at, ahead);
      const to = at + (ahead ? -1 : 1) * (code > 0xffff ? 2 : 1);
      this.#next.clear();
      for (let index = 0; index < this.#now.count; index += 1) {
        const stepIndex = this.#now.at[index] ?? 0;
        const step = steps[stepIndex] as Step;
        if (step.op === "match") places[at] = 1;
        else if (step.op === "take" && code >= 0 && step.takes(code))
          this.#follow(steps, stepIndex + 1, undefined, this.#next, text, to);
      }
      this.#spend(this.#now.count + 1);
      if (code < 0) return places;
      [this.#now, this.#next] = [this.#next, this.#now];
      at = to;
    }
  }
}
