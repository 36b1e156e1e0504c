import { CUT } from "../../base/index.ts";
import { unescapeText } from "./escapes.ts";
import { includesAny } from "./find-needle.ts";

/** What is written in place of a secret. */
export const REDACTED = "[redacted]";

/** Why not all secret values of an exchange are known, unless there is a better reason. */
const TOO_MANY_SECRETS = "more secrets than can be searched for";

/** Shorter values occur anywhere. A value of this length is only found where no letter or digit is next to it. */
const MIN_LENGTH = 3;
/** The minimum length of values of a path, a query or a header. */
const MIN_LENGTH_IN_HEAD = 6;
/** The minimum number of characters of a value at the end of a text that was cut. */
const MIN_LENGTH_BEFORE_CUT = 6;
const CUT_BYTES = Buffer.from(CUT);
/** Characters that identify a value. The cost of a search does not depend on the characters after them. */
export const NEEDLE_LENGTH = 32;
/** Values of one exchange, in all spellings. With more of them no text of the exchange is recorded. */
const MAX_VALUES = 500;
/** Values that have one needle. Each of them is compared wherever the needle is. */
const MAX_ALIKE = 16;
/** Characters of values that one exchange may be compared with. A client can choose values that nearly match everywhere. */
const MAX_COMPARED = 4_000_000;
/** Up to this number of values, texts are searched for one after the other, since the platform does it faster. */
const FEW = 4;
const MAX_DEPTH = 64;

/** A node of a prefix tree of UTF-16 units. */
interface Node {
  readonly next: Map<number, Node>;
  /** Values whose needle ends here. */
  readonly values: string[];
}

/**
 * The start of a value in UTF-8, without half of a character at its end. Bytes, because `Buffer.includes` of a text that is
 * not well-formed ends the process with a failed assertion of Node.
 */
const needleBytes = (value: string): Buffer =>
  Buffer.from(value.slice(0, NEEDLE_LENGTH).replace(/[\ud800-\udbff]$/, ""));

const node = (): Node => ({ next: new Map(), values: [] });

/**
 * The values that have secret names in one request, and its token. They are replaced wherever they occur in the same
 * exchange, also as JSON, URLs and forms spell them. The time of a search only depends on the length of the text.
 */
export class SecretValues {
  readonly #values = new Set<string>();
  readonly #tokens: string[] = [];
  /** How many values have a needle. */
  readonly #alike = new Map<string, number>();
  /** The needles of the values, if there are few. */
  #needles: readonly string[] | undefined;
  #needleBytes: readonly Buffer[] | undefined;
  #hasOthers = false;
  #root: Node | undefined;
  #compared = 0;
  #whyIncomplete: string | undefined;
  #minLength = MIN_LENGTH;

  /** Whether all secret values are known. If not, no text of the exchange can be recorded. */
  get isComplete(): boolean {
    return this.#whyIncomplete === undefined;
  }

  /** Why not all secret values are known; undefined if they are. */
  get whyIncomplete(): string | undefined {
    return this.#whyIncomplete;
  }

  get size(): number {
    return this.#values.size;
  }

  /** Adds a text or a number, or all values of a list or an object. */
  add(value: unknown, depth = 0): void {
    if (typeof value === "string") return this.#addText(value);
    if (typeof value === "number") return this.#addText(String(value));
    if (value === null || typeof value !== "object") return;
    if (depth === MAX_DEPTH) return this.markIncomplete();
    const inner: unknown[] = Array.isArray(value) ? value : Object.values(value);
    for (const item of inner) {
      if (!this.isComplete) return;
      this.add(item, depth + 1);
    }
  }

  /** Adds a token. No word of a path is a token. */
  addToken(token: string): void {
    this.#tokens.push(token);
    this.#addSpellings(token);
  }

  isToken(text: string): boolean {
    return this.#tokens.includes(text);
  }

  /** The tokens without the other values. */
  tokensOnly(): SecretValues {
    if (!this.#hasOthers && this.isComplete) return this;
    const tokens = new SecretValues();
    for (const token of this.#tokens) tokens.addToken(token);
    return tokens;
  }

  /**
   * Sets whether the next values are of a body. Those of a request's head, where a client can send anything, must be
   * longer: short ones occur anywhere, and would hide other parts of the record.
   */
  fromBody(isBody: boolean): void {
    this.#minLength = isBody ? MIN_LENGTH : MIN_LENGTH_IN_HEAD;
  }

  /** Records that not all secret values are known. The first reason counts. It must have no text of a message. */
  markIncomplete(why = TOO_MANY_SECRETS): void {
    this.#whyIncomplete ??= why;
  }

  #addText(text: string): void {
    if (text.length < this.#minLength || !this.isComplete) return;
    this.#hasOthers = true;
    if (!this.#values.has(text)) this.#addSpellings(text);
  }

  #addSpellings(text: string): void {
    for (const spelling of spellings(text)) this.#addSpelling(spelling);
    if (this.#values.size > MAX_VALUES) this.markIncomplete();
    this.#root = undefined;
    this.#needles = undefined;
    this.#needleBytes = undefined;
  }

  #addSpelling(spelling: string): void {
    if (this.#values.has(spelling)) return;
    this.#values.add(spelling);
    if (spelling.length <= NEEDLE_LENGTH) return;
    const needle = spelling.slice(0, NEEDLE_LENGTH);
    const alike = (this.#alike.get(needle) ?? 0) + 1;
    this.#alike.set(needle, alike);
    if (alike > MAX_ALIKE) this.markIncomplete();
  }

  /** Whether one of the values may be in the text. Fast. */
  maybeIn(text: string): boolean {
    if (!this.isComplete) return true;
    if (this.#values.size > FEW || text.includes(CUT)) return this.#firstIn(text) !== -1;
    this.#needles ??= [...this.#values].map((value) => value.slice(0, NEEDLE_LENGTH));
    for (const needle of this.#needles) if (text.includes(needle)) return true;
    return false;
  }

  /** The same of a text in UTF-8. */
  maybeInBytes(bytes: Buffer): boolean {
    if (!this.isComplete || this.#values.size > FEW || bytes.includes(CUT_BYTES))
      return this.maybeIn(bytes.toString());
    this.#needleBytes ??= [...this.#values].map(needleBytes);
    return includesAny(bytes, this.#needleBytes);
  }

  #firstIn(text: string): number {
    for (let at = 0; at < text.length; at += 1) if (this.#lengthAt(text, at) > 0) return at;
    return -1;
  }

  /** The text without the values in it. */
  conceal(text: string): string {
    if (!this.isComplete) return REDACTED;
    if (!this.maybeIn(text)) return text;
    let concealed = "";
    let from = 0;
    for (let at = 0; at < text.length;) {
      const length = this.#lengthAt(text, at);
      if (length === 0) at += 1;
      else {
        concealed += text.slice(from, at) + REDACTED;
        at += length;
        from = at;
      }
    }
    return concealed + text.slice(from);
  }

  /** The offset of the first value in a text that a pattern matches; -1 if there is none. */
  firstWith(pattern: RegExp, text: string): number {
    if (!this.isComplete || !this.maybeIn(text)) return -1;
    for (let at = 0; at < text.length;) {
      const length = this.#lengthAt(text, at);
      if (length > 0 && pattern.test(text.slice(at, at + length))) return at;
      at += length || 1;
    }
    return -1;
  }

  /** The start of a text up to an offset, or up to a value that starts before it and ends after it. */
  cut(text: string, end: number): string {
    if (!this.maybeIn(text)) return text.slice(0, end);
    for (let at = 0; at < end;) {
      const length = this.#lengthAt(text, at);
      if (at + length > end) return text.slice(0, at);
      at += length || 1;
    }
    return text.slice(0, end);
  }

  /** Whether a whole text is one of the values. */
  has(text: string): boolean {
    return !this.isComplete || this.#values.has(text);
  }

  /** The length of the value at an offset of the text, or 0. After too many comparisons all of the text may be values. */
  #lengthAt(text: string, at: number): number {
    if (this.#compared > MAX_COMPARED) {
      this.markIncomplete();
      return text.length - at;
    }
    let length = 0;
    let here: Node | undefined = (this.#root ??= this.#createTree());
    for (let to = at; here; to += 1) {
      for (const value of here.values) length = Math.max(length, lengthOf(value, text, at, to));
      this.#compared += to > at ? 1 + here.values.length : 0;
      here = here.next.get(text.charCodeAt(to));
      // The gateway has cut the text within a value: in an error, for example.
      if (!here && to - at >= MIN_LENGTH_BEFORE_CUT && text.startsWith(CUT, to))
        return Math.max(length, to - at);
    }
    return length;
  }

  #createTree(): Node {
    const root = node();
    for (const value of this.#values) {
      let here = root;
      for (let at = 0; at < Math.min(value.length, NEEDLE_LENGTH); at += 1) {
        const next: Node = here.next.get(value.charCodeAt(at)) ?? node();
        here.next.set(value.charCodeAt(at), next);
        here = next;
      }
      here.values.push(value);
    }
    return root;
  }
}

/**
 * How much of a value is in the text after its needle. A long value counts even if its end is missing, so that no
 * character is compared twice.
 */
function lengthOf(value: string, text: string, at: number, to: number): number {
  if (value.length === MIN_LENGTH && (isWord(text.charCodeAt(at - 1)) || isWord(text.charCodeAt(to))))
    return 0;
  let end = to;
  while (end - at < value.length && value.charCodeAt(end - at) === text.charCodeAt(end)) end += 1;
  return end - at;
}

function isWord(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

/** Characters that no encoding changes. */
const PLAIN = /^[\w.~!*'()-]*$/;

/**
 * A value as JSON, URLs and forms spell it, and as it is read where they have spelled it. Others may replace half a
 * character by U+FFFD.
 */
function spellings(text: string): string[] {
  if (PLAIN.test(text)) return [text];
  const wellFormed = text.toWellFormed();
  const encoded = encodeURIComponent(wellFormed);
  const read = unescapeText(text);
  return [
    text,
    wellFormed,
    JSON.stringify(text).slice(1, -1),
    encoded,
    encoded.replaceAll("%20", "+"),
    ...(read.length >= MIN_LENGTH ? [read] : []),
  ];
}
