import { CUT } from "../../base/index.ts";
import { applyEdits, type Edit } from "./edits.ts";
import { unescapeText } from "./escapes.ts";

/** The default reason why not all secret values of an exchange are known. */
const TOO_MANY_SECRETS = "more secrets than can be searched for";

/**
 * Minimum length of a value. Shorter values occur in any text. A value of this length is only found if no letter or
 * digit is next to it.
 */
const MIN_LENGTH = 3;
/** Minimum length of values in a path, a query or a header. */
const MIN_LENGTH_IN_HEAD = 6;
/** Minimum number of characters of a value at the end of a text that was cut. */
const MIN_LENGTH_BEFORE_CUT = 6;
/** Number of characters that identify a value. Further characters do not change the cost of a search. */
export const NEEDLE_LENGTH = 32;
/**
 * Maximum number of characters of all values of one exchange that have several spellings, because a value in quotes has
 * a dozen.
 */
const MAX_SPELT = 32_768;
/** Maximum number of values of one exchange, in all spellings. If there are more, no text of the exchange is recorded. */
const MAX_VALUES = 500;
/**
 * Maximum number of characters that are compared in one exchange. A client can choose values that nearly match
 * everywhere.
 */
const MAX_COMPARED = 4_000_000;
/** Up to this number of values, texts are searched for each value separately, because the platform's search is faster. */
const FEW = 4;
const MAX_DEPTH = 64;

/** Returns the first two characters of a value in a text, as a number. All values are longer. */
const startAt = (text: string, at: number): number => text.charCodeAt(at) * 65_536 + text.charCodeAt(at + 1);

/**
 * The values with secret names of one request, and its token. All their occurrences in the same exchange are replaced,
 * including the spellings of JSON, URLs, forms and HTML. The time of a search only depends on the length of the text.
 */
export class SecretValues {
  /** Bodies that were searched and have no secret name. They are not searched for names again. */
  readonly bodiesWithoutNames = new WeakSet<Uint8Array>();
  readonly #values = new Set<string>();
  readonly #tokens: string[] = [];
  /** The values, indexed by their first two characters. */
  readonly #byStart = new Map<number, string[]>();
  #compared = 0;
  #spelt = 0;
  #whyIncomplete: string | undefined;
  /**
   * Whether the next values come from a body. Values of a request's head must be longer: a client can send any text
   * there, and short values would hide other parts of the record.
   */
  isInBody = true;

  /** The reason why some secret values are unknown. Undefined if all are known. */
  get whyIncomplete(): string | undefined {
    return this.#whyIncomplete;
  }

  /** Whether all secret values are known. Otherwise no text of the exchange can be recorded. */
  get isComplete(): boolean {
    return this.#whyIncomplete === undefined;
  }

  /** Marks the secret values as incomplete. The first reason is kept. It must not contain text from a message. */
  markIncomplete(why = TOO_MANY_SECRETS): void {
    this.#whyIncomplete ??= why;
  }

  /** Adds a text or a number, or all values of a list or an object. */
  add(value: unknown, depth = 0): void {
    if (typeof value === "string" || typeof value === "number") return this.#addText(String(value));
    if (value === null || typeof value !== "object") return;
    if (depth === MAX_DEPTH) return this.markIncomplete();
    for (const item of Object.values(value)) {
      if (!this.isComplete) return;
      this.add(item, depth + 1);
    }
  }

  /** Adds a token. Words of a path are never tokens. */
  addToken(token: string): void {
    if (this.#tokens.includes(token)) return;
    this.#tokens.push(token);
    this.#addSpellings(token);
  }

  isToken(text: string): boolean {
    return this.#tokens.includes(text);
  }

  /** Returns the tokens without the other values. */
  tokensOnly(): SecretValues {
    const tokens = new SecretValues();
    for (const token of this.#tokens) tokens.addToken(token);
    return tokens;
  }

  #addText(text: string): void {
    const isLong = text.length >= (this.isInBody ? MIN_LENGTH : MIN_LENGTH_IN_HEAD);
    if (isLong && this.isComplete && !this.#values.has(text)) this.#addSpellings(text);
  }

  #addSpellings(text: string): void {
    if (!PLAIN.test(text)) this.#spelt += text.length;
    if (this.#spelt > MAX_SPELT) return this.markIncomplete();
    for (const spelling of spellings(text)) {
      if (this.#values.has(spelling)) continue;
      this.#values.add(spelling);
      const start = startAt(spelling, 0);
      this.#byStart.set(start, [...(this.#byStart.get(start) ?? []), spelling]);
    }
    if (this.#values.size > MAX_VALUES) this.markIncomplete();
  }

  /** Whether the text may contain one of the values. */
  maybeIn(text: string): boolean {
    return this.findIn(text, 1).length > 0;
  }

  /** Finds the values in a text, or the first ones. Fast if there are none. */
  findIn(text: string, most = Infinity): Edit[] {
    if (!this.isComplete) return [{ start: 0, end: text.length }];
    const found: Edit[] = [];
    if (this.#values.size <= FEW && !text.includes(CUT) && !this.#isStartIn(text)) return found;
    for (let at = 0; at < text.length && found.length < most;) {
      const length = this.#lengthAt(text, at);
      if (length > 0) found.push({ start: at, end: at + length });
      at += length || 1;
    }
    return found;
  }

  #isStartIn(text: string): boolean {
    for (const value of this.#values) if (text.includes(value.slice(0, NEEDLE_LENGTH))) return true;
    return false;
  }

  /** Replaces the values in a text. */
  redact(text: string): string {
    return applyEdits(text, this.findIn(text));
  }

  /** Whether a whole text is one of the values. */
  has(text: string): boolean {
    return !this.isComplete || this.#values.has(text);
  }

  /**
   * Returns the length of the value at an offset of the text, or 0. After too many comparisons, the rest of the text is
   * treated as a value.
   */
  #lengthAt(text: string, at: number): number {
    let longest = 0;
    for (const value of this.#byStart.get(startAt(text, at)) ?? []) {
      if (this.#compared > MAX_COMPARED) {
        this.markIncomplete();
        return text.length - at;
      }
      const length = lengthOf(value, text, at);
      this.#compared += length;
      if (length > longest && isFound(value, text, at, length)) longest = length;
    }
    return longest;
  }
}

/** Returns the length of the part of a value at an offset of the text. Its first two characters are already known to match. */
function lengthOf(value: string, text: string, at: number): number {
  let length = 2;
  while (length < value.length && value.charCodeAt(length) === text.charCodeAt(at + length)) length += 1;
  return length;
}

/**
 * Whether a part of a value in a text is treated as the value. A long value is found even if its end is missing, so
 * that no character is compared twice. The gateway may have cut the text within a value, for example in an error.
 */
function isFound(value: string, text: string, at: number, length: number): boolean {
  if (length < Math.min(value.length, NEEDLE_LENGTH))
    return length >= MIN_LENGTH_BEFORE_CUT && text.startsWith(CUT, at + length);
  const isAlone = !/[a-z0-9]/i.test((text[at - 1] ?? "") + (text[at + length] ?? ""));
  return value.length > MIN_LENGTH || isAlone;
}

/** Spellings of quotes in HTML, double and single ones. */
const HTML_QUOTES = [
  ['"', "'"],
  ["&quot;", "&#39;"],
  ["&quot;", "&#039;"],
  ["&quot;", "&#x27;"],
  ["&quot;", "&apos;"],
  ["&#34;", "&#39;"],
] as const;

/** Returns the HTML spellings of a value, because the errors of many services contain escaped texts of the request. */
function htmlSpellings(text: string): string[] {
  if (!/[&<>"']/.test(text)) return [];
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return HTML_QUOTES.map(([double, single]) => escaped.replaceAll('"', double).replaceAll("'", single));
}

/** Matches texts that no encoding changes. */
const PLAIN = /^[\w.~!*()-]*$/;

/**
 * Returns the spellings of a value in JSON, URLs, forms and HTML, and its decoded form if it was sent encoded. Programs
 * may replace an unpaired surrogate with U+FFFD.
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
    ...htmlSpellings(text),
    ...(read.length >= MIN_LENGTH ? [read] : []),
  ];
}
