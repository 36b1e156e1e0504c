/**
 * JSON gone over without being read: places of values are found, and what is only handed on is never made into
 * objects. As strict as `parseJson`: what is gone over to its end is JSON to its end.
 */
import { fromJsonText } from "./text.ts";

/** A place in JSON text, as UTF-8. What reads a value there moves it behind the value. */
export interface Cursor {
  readonly bytes: Buffer;
  /** The same where all of it is ASCII, so that places are the same: parts of it cost nothing then. */
  readonly text: string | undefined;
  at: number;
  /** How many arrays and objects may still stand inside each other. */
  readonly depth: number;
}

/** As `parseJson` allows them. */
const MOST_DEPTH = 100;

const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const minus = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterA = 0x61;
const letterE = 0x65;
const letterF = 0x66;
const letterL = 0x6c;
const letterN = 0x6e;
const letterR = 0x72;
const letterS = 0x73;
const letterT = 0x74;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const lowerCase = 0x20;
const space = 0x20;

/** @throws {SyntaxError} always; the message holds nothing of the text, which may be a secret. */
export function notJson(): never {
  throw new SyntaxError("not JSON");
}

function tooDeep(): never {
  throw new RangeError(`JSON nested deeper than ${MOST_DEPTH} levels`);
}

/**
 * The value of a whole text; its end is left to {@link expectEnd}.
 *
 * @param bytes the text in UTF-8, where it is at hand
 */
export function cursorAt(text: string, bytes: Buffer = Buffer.from(text)): Cursor {
  const ascii = bytes.length === text.length ? text : undefined;
  return { bytes, text: ascii, at: skipWhitespace(bytes, 0), depth: MOST_DEPTH };
}

/** @throws {SyntaxError} where anything but white space stands behind the value. */
export function expectEnd({ bytes, at }: Cursor): void {
  if (skipWhitespace(bytes, at) !== bytes.length) notJson();
}

/** Whether a text is JSON from beginning to end. */
export function isJson(text: string, bytes?: Buffer): boolean {
  try {
    const cursor = cursorAt(text, bytes);
    cursor.at = endOfValue(cursor.bytes, cursor.at, cursor.depth);
    expectEnd(cursor);
    return true;
  } catch {
    return false;
  }
}

/** 0 behind the end, which stands nowhere in JSON. An array that is read behind its end is slow from then on. */
const byteAt = (bytes: Uint8Array, at: number): number => (at < bytes.length ? (bytes[at] as number) : 0);

/** Whether an object begins at a cursor. */
export const isObjectAt = ({ bytes, at }: Cursor): boolean => byteAt(bytes, at) === openBrace;
export const isArrayAt = ({ bytes, at }: Cursor): boolean => byteAt(bytes, at) === openBracket;

/** The first place from `at` on that is no white space (RFC 8259 2). */
export function skipWhitespace(bytes: Uint8Array, at: number): number {
  let end = at;
  for (;;) {
    const code = byteAt(bytes, end);
    if (code !== space && code !== 0x0a && code !== 0x0d && code !== 0x09) return end;
    end += 1;
  }
}

/**
 * The place behind the value that begins at `at`.
 *
 * @throws {SyntaxError} where none does, {RangeError} where it is nested deeper than `depth`.
 */
export function endOfValue(bytes: Uint8Array, at: number, depth: number): number {
  const code = byteAt(bytes, at);
  if (code === quote) return endOfString(bytes, at);
  if (code === openBrace) return endOfObject(bytes, at, depth - 1);
  if (code === openBracket) return endOfArray(bytes, at, depth - 1);
  if (code === letterT) return endOfWord(bytes, at + 1, letterR, letterU, letterE);
  if (code === letterN) return endOfWord(bytes, at + 1, letterU, letterL, letterL);
  if (code === letterF && byteAt(bytes, at + 1) === letterA)
    return endOfWord(bytes, at + 2, letterL, letterS, letterE);
  return endOfNumber(bytes, at);
}

/** Of the three words that JSON has: the last three letters of one, that stand at a place. */
function endOfWord(bytes: Uint8Array, at: number, first: number, second: number, third: number): number {
  const stands =
    byteAt(bytes, at) === first && byteAt(bytes, at + 1) === second && byteAt(bytes, at + 2) === third;
  return stands ? at + 3 : notJson();
}

function endOfString(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  for (;;) {
    const code = byteAt(bytes, end);
    if (code === quote) return end + 1;
    if (code === backslash) end = endOfEscape(bytes, end);
    else if (code >= space) end += 1;
    else notJson();
  }
}

/** What may stand behind a backslash, but for `u` and its digits. */
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));
const HEX_DIGITS = 4;

function endOfEscape(bytes: Uint8Array, at: number): number {
  const code = byteAt(bytes, at + 1);
  if (code !== letterU) return ESCAPED.has(code) ? at + 2 : notJson();
  const end = at + 2 + HEX_DIGITS;
  for (let digit = at + 2; digit < end; digit += 1) if (!isHexDigit(byteAt(bytes, digit))) notJson();
  return end;
}

const isDigit = (code: number): boolean => code >= zero && code <= nine;

function isHexDigit(code: number): boolean {
  const letter = code | lowerCase;
  return isDigit(code) || (letter >= letterA && letter <= letterF);
}

/** One digit at least. */
function endOfDigits(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isDigit(byteAt(bytes, end))) end += 1;
  return end > at ? end : notJson();
}

function endOfNumber(bytes: Uint8Array, at: number): number {
  const start = byteAt(bytes, at) === minus ? at + 1 : at;
  let end = byteAt(bytes, start) === zero ? start + 1 : endOfDigits(bytes, start);
  if (byteAt(bytes, end) === point) end = endOfDigits(bytes, end + 1);
  if ((byteAt(bytes, end) | lowerCase) !== letterE) return end;
  const sign = byteAt(bytes, end + 1);
  return endOfDigits(bytes, end + (sign === plus || sign === minus ? 2 : 1));
}

function endOfArray(bytes: Uint8Array, at: number, depth: number): number {
  if (depth < 0) tooDeep();
  let end = skipWhitespace(bytes, at + 1);
  if (byteAt(bytes, end) === closeBracket) return end + 1;
  for (;;) {
    end = skipWhitespace(bytes, endOfValue(bytes, end, depth));
    const code = byteAt(bytes, end);
    if (code === closeBracket) return end + 1;
    end = code === comma ? skipWhitespace(bytes, end + 1) : notJson();
  }
}

function endOfObject(bytes: Uint8Array, at: number, depth: number): number {
  if (depth < 0) tooDeep();
  let end = skipWhitespace(bytes, at + 1);
  if (byteAt(bytes, end) === closeBrace) return end + 1;
  for (;;) {
    end = skipWhitespace(bytes, endOfValue(bytes, skipWhitespace(bytes, endOfName(bytes, end)), depth));
    const code = byteAt(bytes, end);
    if (code === closeBrace) return end + 1;
    end = code === comma ? skipWhitespace(bytes, end + 1) : notJson();
  }
}

/** The place behind the colon of the member that begins at `at`. */
function endOfName(bytes: Uint8Array, at: number): number {
  const end = byteAt(bytes, at) === quote ? skipWhitespace(bytes, endOfString(bytes, at)) : notJson();
  return byteAt(bytes, end) === colon ? end + 1 : notJson();
}

/** A member's name up to its colon, as it was met in a text, and the number it is known by; -1 for any other. */
export interface MemberName {
  readonly bytes: Uint8Array;
  readonly number: number;
}

/** The members of one kind of object that somebody wants, and the order in which its members came last. */
export interface MemberTable {
  readonly numbers: ReadonlyMap<string, number>;
  readonly order: MemberName[];
}

/** The members of these names, numbered in their order. */
export const createMemberTable = (names: Iterable<string>): MemberTable => ({
  numbers: new Map([...names].map((name, index) => [name, index])),
  order: [],
});

/** What is remembered of an order: more, or longer ones, would be no names but data. */
const MOST_NAMES = 100;
const LONGEST_NAME = 100;

/**
 * The name of the member at a place, the `index`th of its object. Objects of one kind have their members in
 * one order nearly always, so the name that stood here last time is tried first.
 */
export function nameAt(bytes: Buffer, at: number, members: MemberTable, index: number): MemberName {
  const last = members.order[index];
  return last !== undefined && standsAt(last.bytes, bytes, at) ? last : newName(bytes, at, members, index);
}

function standsAt(part: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < part.length; index += 1)
    if (byteAt(bytes, at + index) !== part[index]) return false;
  return true;
}

function newName(bytes: Buffer, at: number, { numbers, order }: MemberTable, index: number): MemberName {
  const end = endOfName(bytes, at);
  const written = bytes.toString("utf8", at, endOfString(bytes, at));
  const name = {
    bytes: Uint8Array.from(bytes.subarray(at, end)),
    number: numbers.get(fromJsonText(written) as string) ?? -1,
  };
  if (index < MOST_NAMES && end - at <= LONGEST_NAME) order[index] = name;
  return name;
}

/** The text of the value between two places. */
export const rawTextAt = ({ bytes, text }: Pick<Cursor, "bytes" | "text">, at: number, end: number): string =>
  text === undefined ? bytes.toString("utf8", at, end) : text.slice(at, end);

/** Moves over a value, and gives it. */
export const readValue = (from: Cursor): unknown => fromJsonText(readRaw(from));

/** Moves over a value, and gives its text. */
export function readRaw(cursor: Cursor): string {
  const { bytes, at, depth } = cursor;
  cursor.at = endOfValue(bytes, at, depth);
  return rawTextAt(cursor, at, cursor.at);
}

/** The text of each member of an array, in order. */
export function itemsOf(text: string): string[] {
  const items: string[] = [];
  const from = cursorAt(text);
  forEachItem(from, () => items.push(readRaw(from)));
  return items;
}

/**
 * Goes over the members of the object at a cursor: `take` gets the number of each, and moves the cursor behind
 * its value.
 */
export function forEachMember(cursor: Cursor, members: MemberTable, take: (number: number) => void): void {
  const { bytes } = cursor;
  cursor.at = skipWhitespace(bytes, cursor.at + 1);
  if (byteAt(bytes, cursor.at) === closeBrace) return void (cursor.at += 1);
  for (let index = 0; ; index += 1) {
    const name = nameAt(bytes, cursor.at, members, index);
    cursor.at = skipWhitespace(bytes, cursor.at + name.bytes.length);
    take(name.number);
    if (isOver(cursor, closeBrace)) return;
  }
}

/** The same for the members of the array at a cursor. */
export function forEachItem(cursor: Cursor, take: () => void): void {
  const { bytes } = cursor;
  cursor.at = skipWhitespace(bytes, cursor.at + 1);
  if (byteAt(bytes, cursor.at) === closeBracket) return void (cursor.at += 1);
  for (;;) {
    take();
    if (isOver(cursor, closeBracket)) return;
  }
}

/** Moves over a comma, or the closing bracket: then there is no more. */
function isOver(cursor: Cursor, close: number): boolean {
  const { bytes } = cursor;
  const at = skipWhitespace(bytes, cursor.at);
  const code = byteAt(bytes, at);
  if (code === close) {
    cursor.at = at + 1;
    return true;
  }
  cursor.at = code === comma ? skipWhitespace(bytes, at + 1) : notJson();
  return false;
}
