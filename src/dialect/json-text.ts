/**
 * JSON taken as text: places of values are found, and what is only handed on is never made into objects. As
 * strict as `parseJson`: a text that is read to its end is JSON to its end.
 */
import { parseJson, printJson } from "./json.ts";

/** The JSON text of a value; null stands for itself, and so does what is missing. */
export type Text = string | null | undefined;

/** A place in a text. What reads a value there moves it behind the value. */
export interface Cursor {
  readonly text: string;
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
const letterE = 0x65;
const letterF = 0x66;
const letterN = 0x6e;
const letterT = 0x74;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const lowerCase = 0x20;
const space = 0x20;

/** @throws {SyntaxError} always; the message holds nothing of the text, which may be a secret. */
export function notJson(): never {
  throw new SyntaxError("not JSON");
}

/** The value of a whole text; its end is left to {@link ends}. */
export const begins = (text: string): Cursor => ({ text, at: behindSpace(text, 0), depth: MOST_DEPTH });

/** @throws {SyntaxError} where anything but white space stands behind the value. */
export function ends({ text, at }: Cursor): void {
  if (behindSpace(text, at) !== text.length) notJson();
}

/** Whether a text is JSON from beginning to end. */
export function isJson(text: string): boolean {
  try {
    const cursor = begins(text);
    cursor.at = endOfValue(text, cursor.at, cursor.depth);
    ends(cursor);
    return true;
  } catch {
    return false;
  }
}

/** Whether an object begins at a cursor. */
export const isObjectAt = ({ text, at }: Cursor): boolean => text.charCodeAt(at) === openBrace;

/** The first place from `at` on that is no white space (RFC 8259 2). */
export function behindSpace(text: string, at: number): number {
  let end = at;
  for (;;) {
    const code = text.charCodeAt(end);
    if (code !== space && code !== 0x0a && code !== 0x0d && code !== 0x09) return end;
    end += 1;
  }
}

/**
 * The place behind the value that begins at `at`.
 *
 * @throws {SyntaxError} where none does, {RangeError} where it is nested deeper than `depth`.
 */
export function endOfValue(text: string, at: number, depth: number): number {
  const code = text.charCodeAt(at);
  if (code === quote) return endOfString(text, at);
  if (code === openBrace) return endOfObject(text, at, depth - 1);
  if (code === openBracket) return endOfArray(text, at, depth - 1);
  if (code === letterT) return endOfWord(text, at, "true");
  if (code === letterF) return endOfWord(text, at, "false");
  if (code === letterN) return endOfWord(text, at, "null");
  return endOfNumber(text, at);
}

const endOfWord = (text: string, at: number, word: string): number =>
  text.startsWith(word, at) ? at + word.length : notJson();

function endOfString(text: string, at: number): number {
  let end = at + 1;
  for (;;) {
    const code = text.charCodeAt(end);
    if (code === quote) return end + 1;
    if (code === backslash) end = endOfEscape(text, end);
    // Behind the end of the text there is NaN, which is no more than anything.
    else if (code >= space) end += 1;
    else notJson();
  }
}

const escapes = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

function endOfEscape(text: string, at: number): number {
  escapes.lastIndex = at;
  return escapes.test(text) ? escapes.lastIndex : notJson();
}

const isDigit = (code: number): boolean => code >= zero && code <= nine;

/** One digit at least. */
function endOfDigits(text: string, at: number): number {
  let end = at;
  while (isDigit(text.charCodeAt(end))) end += 1;
  return end > at ? end : notJson();
}

function endOfNumber(text: string, at: number): number {
  const start = text.charCodeAt(at) === minus ? at + 1 : at;
  let end = text.charCodeAt(start) === zero ? start + 1 : endOfDigits(text, start);
  if (text.charCodeAt(end) === point) end = endOfDigits(text, end + 1);
  if ((text.charCodeAt(end) | lowerCase) !== letterE) return end;
  const sign = text.charCodeAt(end + 1);
  return endOfDigits(text, end + (sign === plus || sign === minus ? 2 : 1));
}

function endOfArray(text: string, at: number, depth: number): number {
  if (depth < 0) throw new RangeError(`JSON nested deeper than ${MOST_DEPTH} levels`);
  let end = behindSpace(text, at + 1);
  if (text.charCodeAt(end) === closeBracket) return end + 1;
  for (;;) {
    end = behindSpace(text, endOfValue(text, end, depth));
    const code = text.charCodeAt(end);
    if (code === closeBracket) return end + 1;
    end = code === comma ? behindSpace(text, end + 1) : notJson();
  }
}

function endOfObject(text: string, at: number, depth: number): number {
  if (depth < 0) throw new RangeError(`JSON nested deeper than ${MOST_DEPTH} levels`);
  let end = behindSpace(text, at + 1);
  if (text.charCodeAt(end) === closeBrace) return end + 1;
  for (;;) {
    end = behindSpace(text, endOfValue(text, behindSpace(text, endOfName(text, end)), depth));
    const code = text.charCodeAt(end);
    if (code === closeBrace) return end + 1;
    end = code === comma ? behindSpace(text, end + 1) : notJson();
  }
}

/** The place behind the colon of the member that begins at `at`. */
function endOfName(text: string, at: number): number {
  const end = text.charCodeAt(at) === quote ? behindSpace(text, endOfString(text, at)) : notJson();
  return text.charCodeAt(end) === colon ? end + 1 : notJson();
}

/** A member's name up to its colon, as it was met in a text, and the number it is known by; -1 for any other. */
export interface Name {
  readonly text: string;
  readonly number: number;
}

/** The members of one kind of object that somebody wants, and the order in which its members came last. */
export interface Members {
  readonly numbers: ReadonlyMap<string, number>;
  readonly order: Name[];
}

/** The members of these names, numbered in their order. */
export const membersOf = (names: Iterable<string>): Members => ({
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
export function nameAt(text: string, at: number, members: Members, index: number): Name {
  const last = members.order[index];
  return last !== undefined && text.startsWith(last.text, at) ? last : newName(text, at, members, index);
}

function newName(text: string, at: number, { numbers, order }: Members, index: number): Name {
  const end = endOfName(text, at);
  const written = text.slice(at, endOfString(text, at));
  const name = { text: text.slice(at, end), number: numbers.get(valueOfText(written) as string) ?? -1 };
  if (index >= MOST_NAMES || name.text.length > LONGEST_NAME) return name;
  // A copy: a slice would keep the whole text.
  order[index] = { ...name, text: flat(name.text) };
  return name;
}

/** A text in one piece, that keeps no other alive. */
export const flat = (text: string): string => Buffer.from(text).toString();

/** The text of the value between two places. */
export const textBetween = (text: string, at: number, end: number): Text =>
  text.charCodeAt(at) === letterN ? null : text.slice(at, end);

/** Moves over a value, and gives it. */
export const takeValue = (from: Cursor): unknown => valueOfText(takeText(from));

/** A number of fewer digits is one that a double holds. */
const EXACT_LENGTH = 15;

/** The value that a text stands for. */
export function valueOfText(text: Text): unknown {
  if (text === null || text === undefined) return text;
  const first = text.charCodeAt(0);
  if (first === quote) return text.includes("\\") ? parseJson(text) : text.slice(1, -1);
  if (isDigit(first) && text.length < EXACT_LENGTH && !/e/i.test(text)) return Number(text);
  return parseJson(text);
}

/** Whether a string stands between quotes as it is. */
const isPlain = (text: string): boolean => /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/.test(text);

/** The text of a value. What JSON has no word for is missing. */
export function textOfValue(value: unknown): Text {
  if (value === undefined || value === null) return value;
  if (typeof value === "string") return isPlain(value) ? `"${value}"` : printJson(value);
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : null;
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  return printJson(value);
}

/** The one way of writing a string: a text with escapes in it may mean the same as one without. */
export const canonical = (text: string): string => (text.includes("\\") ? printJson(parseJson(text)) : text);

/** The text of each member of an array, in order. */
export function itemsOf(text: string): string[] {
  const items: string[] = [];
  let at = behindSpace(text, 1);
  while (text.charCodeAt(at) !== closeBracket) {
    const end = endOfValue(text, at, MOST_DEPTH);
    items.push(text.slice(at, end));
    at = behindSpace(text, end);
    if (text.charCodeAt(at) === comma) at = behindSpace(text, at + 1);
  }
  return items;
}

export const isArrayText = (text: string): boolean => text.charCodeAt(0) === openBracket;
export const isStringText = (text: string): boolean => text.charCodeAt(0) === quote;

/**
 * Goes over the members of the object at a cursor: `take` gets the number of each, and moves the cursor behind
 * its value.
 */
export function eachMember(cursor: Cursor, members: Members, take: (number: number) => void): void {
  const { text } = cursor;
  cursor.at = behindSpace(text, cursor.at + 1);
  if (text.charCodeAt(cursor.at) === closeBrace) return void (cursor.at += 1);
  for (let index = 0; ; index += 1) {
    const name = nameAt(text, cursor.at, members, index);
    cursor.at = behindSpace(text, cursor.at + name.text.length);
    take(name.number);
    if (isOver(cursor, closeBrace)) return;
  }
}

/** The same for the members of the array at a cursor. */
export function eachItem(cursor: Cursor, take: () => void): void {
  const { text } = cursor;
  cursor.at = behindSpace(text, cursor.at + 1);
  if (text.charCodeAt(cursor.at) === closeBracket) return void (cursor.at += 1);
  for (;;) {
    take();
    if (isOver(cursor, closeBracket)) return;
  }
}

/** Moves over a comma, or the closing bracket: then there is no more. */
function isOver(cursor: Cursor, close: number): boolean {
  const { text } = cursor;
  const at = behindSpace(text, cursor.at);
  const code = text.charCodeAt(at);
  if (code === close) {
    cursor.at = at + 1;
    return true;
  }
  cursor.at = code === comma ? behindSpace(text, at + 1) : notJson();
  return false;
}

/** Moves over a value, and gives its text. */
export function takeText(cursor: Cursor): string {
  const { text, at, depth } = cursor;
  cursor.at = endOfValue(text, at, depth);
  return text.slice(at, cursor.at);
}

export const isArrayAt = ({ text, at }: Cursor): boolean => text.charCodeAt(at) === openBracket;
