/**
 * Scans JSON without parsing it: finds where values start and end in UTF-8 bytes, so that values that are only passed
 * on are never turned into objects. As strict as `parseJson`: a text that is scanned to its end is valid JSON.
 *
 * Own code for speed: `JSON.parse` and `JSON.stringify` of a list cost more than its whole translation from bytes to
 * bytes.
 */
import * as characters from "./characters.ts";
import { fromJsonText } from "./text.ts";

/** Constants of this module, since V8 does not fold imported ones: each comparison would load them from memory. */
const {
  MAX_DEPTH,
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isDigit,
  letterA,
  letterE,
  letterF,
  letterU,
  lowerCase,
  minus,
  openBrace,
  openBracket,
  plus,
  point,
  quote,
  space,
  zero,
} = characters;

/** A position in JSON text. Functions that read a value move the cursor behind it. */
export interface Cursor {
  readonly bytes: Buffer;
  at: number;
  /** The number of further levels that arrays and objects may be nested. */
  readonly depth: number;
  /** The number of further member names that may differ from the expected order. Each costs as much as dozens of others. */
  namesLeft: number;
  /** The same bytes, to read four at once. */
  readonly view: DataView;
  /** The offset of the last four bytes. */
  readonly lastGroup: number;
}

/** @throws {SyntaxError} Always. The message contains none of the text, which may be a secret. */
export function notJson(): never {
  throw new SyntaxError("not JSON");
}

/** @throws {RangeError} Always. */
export function tooDeep(): never {
  throw new RangeError(`JSON nested deeper than ${MAX_DEPTH} levels`);
}

/** Far more than the names in pages of objects whose members come in different orders. */
export const MAX_UNEXPECTED_NAMES = 100_000;

/** Maximum number of characters of a number. No dialect has longer numbers, and copying and comparing them is slow. */
const MAX_NUMBER_LENGTH = 1000;

/** Creates a cursor at the first value of JSON, as text or in UTF-8. {@link expectEnd} checks that nothing follows it. */
export function cursorAt(json: string | Buffer): Cursor {
  const bytes = typeof json === "string" ? Buffer.from(json) : json;
  return {
    bytes,
    at: skipWhitespace(bytes, 0),
    depth: MAX_DEPTH,
    namesLeft: MAX_UNEXPECTED_NAMES,
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    lastGroup: bytes.length - 4,
  };
}

/** @throws {SyntaxError} if anything except white space follows the value */
export function expectEnd({ bytes, at }: Cursor): void {
  // V8 deoptimizes functions that read behind the end of an array.
  if (at < bytes.length && skipWhitespace(bytes, at) !== bytes.length) notJson();
}

/**
 * Checks that a text, or its bytes in UTF-8, is valid JSON.
 *
 * @throws {SyntaxError} If it is not.
 * @throws {RangeError} If it is nested too deeply or has a number that is too long.
 */
export function checkJson(json: string | Buffer): void {
  const cursor = cursorAt(json);
  cursor.at = endOfValue(cursor, cursor.at, cursor.depth);
  expectEnd(cursor);
}

/** Whether a text, or its bytes in UTF-8, is valid JSON within the limits of {@link checkJson}. */
export function isJson(json: string | Buffer): boolean {
  try {
    checkJson(json);
    return true;
  } catch {
    return false;
  }
}

/**
 * The byte at an offset. Beyond the end it is undefined, although its type is a number. Every comparison with it is
 * false, so a loop must only continue after a true comparison. Comparing the offset with the length would cost a
 * twentieth of a translation.
 */
export const byteAt = (bytes: Uint8Array, at: number): number => bytes[at] as number;

/** Whether an object starts at the cursor. */
export const isObjectAt = ({ bytes, at }: Cursor): boolean => byteAt(bytes, at) === openBrace;
export const isArrayAt = ({ bytes, at }: Cursor): boolean => byteAt(bytes, at) === openBracket;

/** The first offset from `at` on that is not white space (RFC 8259, section 2). */
export function skipWhitespace(bytes: Uint8Array, at: number): number {
  let end = at;
  for (;;) {
    const code = byteAt(bytes, end);
    if (code > space || (code !== space && code !== 0x0a && code !== 0x0d && code !== 0x09)) return end;
    end += 1;
  }
}

/**
 * The offset behind the value that starts at `at`.
 *
 * @throws {SyntaxError} If no value starts there.
 * @throws {RangeError} If the value is nested deeper than `depth`.
 */
export function endOfValue(cursor: Cursor, at: number, depth: number): number {
  const { bytes } = cursor;
  const code = byteAt(bytes, at);
  if (code === quote) return endOfString(cursor, at);
  if (isDigit(code) || code === minus) return endOfNumber(bytes, at);
  if (code === openBrace) return endOfObject(cursor, at, depth - 1);
  if (code === openBracket) return endOfArray(cursor, at, depth - 1);
  return endOfWord(cursor, at);
}

/** `true`, `null` and the last four letters of `false` as groups of four bytes. */
const [TRUE, NULL, ALSE] = ["true", "null", "alse"].map((word) => Buffer.from(word).readInt32LE());

function endOfWord({ view, lastGroup, bytes }: Cursor, at: number): number {
  const start = byteAt(bytes, at) === letterF ? at + 1 : at;
  const group = start <= lastGroup ? view.getInt32(start, true) : 0;
  const isWord = start > at ? group === ALSE : group === TRUE || group === NULL;
  return isWord ? start + 4 : notJson();
}

/**
 * Reads four bytes at once, up to the first group with a quote, a backslash or a control character. Subtracting one from
 * each byte sets the upper bit of those that were zero, and of no other below the first of them.
 */
export function endOfString({ bytes, view, lastGroup }: Cursor, at: number): number {
  let end = at + 1;
  for (;;) {
    if (end > lastGroup) return endOfLastString(bytes, end);
    const group = view.getInt32(end, true);
    const quotes = group ^ 0x22222222;
    const backslashes = group ^ 0x5c5c5c5c;
    const found =
      (((quotes - 0x01010101) & ~quotes) |
        ((backslashes - 0x01010101) & ~backslashes) |
        ((group - 0x20202020) & ~group)) &
      0x80808080;
    if (found === 0) {
      end += 4;
      continue;
    }
    end += (31 - Math.clz32(found & -found)) >> 3;
    const code = bytes[end];
    if (code === quote) return end + 1;
    if (code !== backslash) notJson();
    end = endOfEscape(bytes, end);
  }
}

/** Returns where a string ends, byte by byte: the last bytes of the text are too few for a group of four. */
function endOfLastString(bytes: Uint8Array, at: number): number {
  let end = at;
  for (;;) {
    const code = byteAt(bytes, end);
    if (code === quote) return end + 1;
    if (code === backslash) end = endOfEscape(bytes, end);
    else if (code >= space) end += 1;
    else notJson();
  }
}

/** The characters that may follow a backslash, except `u` with its digits. */
const ESCAPABLE = new Set(Buffer.from('"\\/bfnrt'));
const HEX_DIGITS = 4;

function endOfEscape(bytes: Uint8Array, at: number): number {
  const code = byteAt(bytes, at + 1);
  if (code !== letterU) return ESCAPABLE.has(code) ? at + 2 : notJson();
  const end = at + 2 + HEX_DIGITS;
  for (let digit = at + 2; digit < end; digit += 1) if (!isHexDigit(byteAt(bytes, digit))) notJson();
  return end;
}

function isHexDigit(code: number): boolean {
  const letter = code | lowerCase;
  return isDigit(code) || (letter >= letterA && letter <= letterF);
}

/** At least one digit. */
function endOfDigits(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isDigit(byteAt(bytes, end))) end += 1;
  return end > at ? end : notJson();
}

function endOfNumber(bytes: Uint8Array, at: number): number {
  const start = byteAt(bytes, at) === minus ? at + 1 : at;
  let end = byteAt(bytes, start) === zero ? start + 1 : endOfDigits(bytes, start);
  if (byteAt(bytes, end) === point) end = endOfDigits(bytes, end + 1);
  if ((byteAt(bytes, end) | lowerCase) === letterE) {
    const sign = byteAt(bytes, end + 1);
    end = endOfDigits(bytes, end + (sign === plus || sign === minus ? 2 : 1));
  }
  if (end - at > MAX_NUMBER_LENGTH)
    throw new RangeError(`JSON with a number of more than ${MAX_NUMBER_LENGTH} characters`);
  return end;
}

function endOfArray(cursor: Cursor, at: number, depth: number): number {
  const { bytes } = cursor;
  if (depth < 0) tooDeep();
  let end = skipWhitespace(bytes, at + 1);
  if (byteAt(bytes, end) === closeBracket) return end + 1;
  for (;;) {
    end = skipWhitespace(bytes, endOfValue(cursor, end, depth));
    const code = byteAt(bytes, end);
    if (code === closeBracket) return end + 1;
    end = code === comma ? skipWhitespace(bytes, end + 1) : notJson();
  }
}

function endOfObject(cursor: Cursor, at: number, depth: number): number {
  const { bytes } = cursor;
  if (depth < 0) tooDeep();
  let end = skipWhitespace(bytes, at + 1);
  if (byteAt(bytes, end) === closeBrace) return end + 1;
  for (;;) {
    end = skipWhitespace(bytes, endOfValue(cursor, skipWhitespace(bytes, endOfName(cursor, end)), depth));
    const code = byteAt(bytes, end);
    if (code === closeBrace) return end + 1;
    end = code === comma ? skipWhitespace(bytes, end + 1) : notJson();
  }
}

/** The offset behind the colon of the member that starts at `at`. */
function endOfName(cursor: Cursor, at: number): number {
  const { bytes } = cursor;
  return byteAt(bytes, at) === quote ? endOfColon(bytes, endOfString(cursor, at)) : notJson();
}

export function endOfColon(bytes: Uint8Array, at: number): number {
  const end = skipWhitespace(bytes, at);
  return byteAt(bytes, end) === colon ? end + 1 : notJson();
}

/** The text between two offsets. */
export const rawTextAt = ({ bytes }: Pick<Cursor, "bytes">, at: number, end: number): string =>
  bytes.toString("utf8", at, end);

/** Reads a value and moves the cursor behind it. */
export const readValue = (from: Cursor): unknown => fromJsonText(readRaw(from));

/** Reads the text of a value and moves the cursor behind it. */
export function readRaw(cursor: Cursor): string {
  const { at, depth } = cursor;
  cursor.at = endOfValue(cursor, at, depth);
  return rawTextAt(cursor, at, cursor.at);
}
