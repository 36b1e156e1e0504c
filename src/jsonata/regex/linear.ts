import type { Look, RegexProgram, Step } from "./program.ts";

/** Places in the text where groups begin and end, two for each; the first two are those of the whole match. */
type Captures = readonly (number | undefined)[];

/** Steps that all calls of one matcher may take together: about 30 ms. What takes more is given up. */
const MOST_STEPS = 1_000_000;

/** A text is too long for a regular expression. */
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

/** Threads at one place of the text, the first tried first. No step has two: the second could only fail as the first did. */
class Threads {
  readonly at: Int32Array;
  readonly captures: (Captures | undefined)[] = [];
  count = 0;
  private readonly seen: Uint32Array;
  private round = 0;

  constructor(size: number) {
    this.at = new Int32Array(size);
    this.seen = new Uint32Array(size);
  }

  clear(): void {
    this.count = 0;
    this.round += 1;
  }

  /** Whether the step is new here. */
  enter(step: number): boolean {
    if (this.seen[step] === this.round) return false;
    this.seen[step] = this.round;
    return true;
  }

  add(step: number, captures: Captures | undefined): void {
    this.at[this.count] = step;
    if (captures) this.captures[this.count] = captures;
    this.count += 1;
  }
}

function changed(captures: Captures, step: Step & { op: "save" | "reset" }, at: number): Captures {
  const copy = captures.slice();
  if (step.op === "save") copy[step.slot] = at;
  else copy.fill(undefined, step.from, step.to + 1);
  return copy;
}

/**
 * Runs a program over texts as Thompson's and Pike's machines do: all ways at once, character by character, in a time
 * that is the product of both lengths at most. What it finds is what JavaScript's own engine, which goes back and
 * tries again, would find.
 */
export class LinearRegex {
  lastIndex = 0;
  private readonly program: RegexProgram;
  private readonly name: string;
  private now: Threads;
  private next: Threads;
  private left = MOST_STEPS;
  /** For each look-around the places where it holds, in the text that was looked at last. */
  private holds: readonly Uint8Array[] = [];
  private text: string | undefined;
  private readonly waiting: number[] = [];
  private readonly waitingCaptures: (Captures | undefined)[] = [];

  /** @param name What it prints as: Ajv knows the patterns of a schema by that. */
  constructor(program: RegexProgram, name: string) {
    this.program = program;
    this.name = name;
    const size = Math.max(program.steps.length, ...program.looks.map(({ steps }) => steps.length));
    this.now = new Threads(size);
    this.next = new Threads(size);
  }

  toString(): string {
    return this.name;
  }

  /** @throws {RegexLimitError} */
  test(text: string): boolean {
    this.left = MOST_STEPS;
    return this.run(text, 0, false) !== undefined;
  }

  /** The first match from `lastIndex` on, as RegExp's own. @throws {RegexLimitError} */
  exec(text: string): RegExpExecArray | null {
    const from = this.lastIndex;
    if (from === 0) this.left = MOST_STEPS;
    const found = from > text.length ? undefined : this.run(text, from, true);
    this.lastIndex = found?.[1] ?? 0;
    if (!found) return null;
    const match = Array.from({ length: this.program.groups + 1 }, (_, group) => {
      const [start, end] = [found[2 * group], found[2 * group + 1]];
      return start === undefined || end === undefined ? undefined : text.slice(start, end);
    });
    return Object.assign(match, { index: found[0] ?? 0, input: text }) as RegExpExecArray;
  }

  private spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0) throw new RegexLimitError("a text is too long for a regular expression");
  }

  /** The character at a place, forwards or backwards; -1 where there is none. */
  private character(text: string, at: number, backwards: boolean): number {
    const place = backwards ? at - 1 : at;
    if (place < 0 || place >= text.length) return -1;
    const code = text.charCodeAt(place);
    if (!this.program.unicode) return code;
    if (!backwards) return text.codePointAt(place) ?? -1;
    return isLow(code) && isHigh(text.charCodeAt(place - 1)) ? (text.codePointAt(place - 1) ?? -1) : code;
  }

  private run(text: string, from: number, captures: boolean): Captures | undefined {
    const { steps, anchored, groups } = this.program;
    if (anchored && from > 0) return undefined;
    if (text !== this.text) this.lookAround(text);
    const none: Captures | undefined = captures ? Array.from({ length: 2 * groups + 2 }) : undefined;
    let found: Captures | undefined;
    this.now.clear();
    for (let at = from; ;) {
      if (found === undefined && (at === from || !anchored)) this.follow(steps, 0, none, this.now, text, at);
      const code = this.character(text, at, false);
      const width = code > 0xffff ? 2 : 1;
      this.next.clear();
      const threads = this.now;
      for (let index = 0; index < threads.count; index += 1) {
        const place = threads.at[index] ?? 0;
        const step = steps[place] as Step;
        const known = captures ? threads.captures[index] : undefined;
        if (step.op === "match") {
          found = known ?? [];
          if (!captures) return found;
          break;
        }
        if (step.op === "take" && code >= 0 && step.takes(code))
          this.follow(steps, place + 1, known, this.next, text, at + width);
      }
      this.spend(threads.count + 1);
      if (code < 0 || (this.next.count === 0 && (found !== undefined || anchored))) break;
      [this.now, this.next] = [this.next, this.now];
      at += width;
    }
    this.text = captures ? text : undefined;
    return found;
  }

  /** Adds the steps that wait for a character, or have matched, behind a step. */
  private follow(
    steps: readonly Step[],
    first: number,
    captures: Captures | undefined,
    threads: Threads,
    text: string,
    at: number,
  ): void {
    const { waiting, waitingCaptures } = this;
    let taken = 0;
    let top = 0;
    waiting[0] = first;
    waitingCaptures[0] = captures;
    while (top >= 0) {
      let place = waiting[top] as number;
      let known = waitingCaptures[top];
      top -= 1;
      taken += 1;
      for (; threads.enter(place); taken += 1) {
        const step = steps[place] as Step;
        if (step.op === "take" || step.op === "match") {
          threads.add(place, known);
          break;
        }
        if (step.op === "jump") place = step.next;
        else if (step.op === "split") {
          top += 1;
          waiting[top] = step.other;
          waitingCaptures[top] = known;
          place = step.next;
        } else {
          if (step.op === "assertion" && !this.asserts(step.what, text, at)) break;
          if (step.op === "look" && (this.holds[step.index]?.[at] === 1) === step.negative) break;
          if (known && (step.op === "save" || step.op === "reset")) {
            known = changed(known, step, at);
            taken += known.length >> 2;
          }
          place += 1;
        }
      }
    }
    this.spend(taken);
  }

  private asserts(what: "^" | "$" | "b" | "B", text: string, at: number): boolean {
    const { multiline } = this.program;
    if (what === "^") return at === 0 || (multiline && isLineEnd(text.charCodeAt(at - 1)));
    if (what === "$") return at === text.length || (multiline && isLineEnd(text.charCodeAt(at)));
    const between = isWord(text.charCodeAt(at - 1)) !== isWord(text.charCodeAt(at));
    return between === (what === "b");
  }

  /** Finds out where the look-arounds hold, those first that stand inside others. */
  private lookAround(text: string): void {
    const found: Uint8Array[] = [];
    this.holds = found;
    for (const look of this.program.looks) found.push(this.placesOf(look, text));
  }

  /** A look-ahead is run from the end of the text, a look-behind from its start: either is over where it is asked for. */
  private placesOf({ steps, ahead }: Look, text: string): Uint8Array {
    const places = new Uint8Array(text.length + 1);
    this.now.clear();
    for (let at = ahead ? text.length : 0; ;) {
      this.follow(steps, 0, undefined, this.now, text, at);
      const code = this.character(text, at, ahead);
      const to = at + (ahead ? -1 : 1) * (code > 0xffff ? 2 : 1);
      this.next.clear();
      for (let index = 0; index < this.now.count; index += 1) {
        const place = this.now.at[index] ?? 0;
        const step = steps[place] as Step;
        if (step.op === "match") places[at] = 1;
        else if (step.op === "take" && code >= 0 && step.takes(code))
          this.follow(steps, place + 1, undefined, this.next, text, to);
      }
      this.spend(this.now.count + 1);
      if (code < 0) return places;
      [this.now, this.next] = [this.next, this.now];
      at = to;
    }
  }
}
