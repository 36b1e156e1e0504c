/** Reads the members of objects and the items of arrays directly from the text: see `scan.ts`. */
import * as characters from "./characters.ts";
import {
  byteAt,
  cursorAt,
  endOfColon,
  endOfString,
  MAX_UNEXPECTED_NAMES,
  notJson,
  readRaw,
  skipWhitespace,
  type Cursor,
} from "./scan.ts";
import { fromJsonText } from "./text.ts";

/** Constants of this module, since V8 does not fold imported ones. */
const { backslash, closeBrace, closeBracket, comma, quote } = characters;

/** A member name as written in the text, up to its colon. */
interface MemberName {
  /** The bytes of the name in groups of four. The last group is the last four bytes. Empty if the name is not remembered. */
  readonly words: Int32Array;
  /** The number of bytes of the name. */
  readonly length: number;
  /** The number of the name in the {@link MemberTable}; -1 if the table does not contain it. */
  readonly number: number;
}

/** A name without quotes, in UTF-8. */
interface NumberedName {
  readonly bytes: Uint8Array;
  readonly number: number;
}

/** The members of one kind of object that a caller reads, and the order of members in the last object of that kind. */
export interface MemberTable {
  readonly numbers: ReadonlyMap<string, number>;
  /** The names in UTF-8 with their numbers, indexed by length. */
  readonly byLength: readonly (readonly NumberedName[] | undefined)[];
  readonly order: MemberName[];
}

/** Creates the table of these names, numbered in their order. */
export function createMemberTable(names: Iterable<string>): MemberTable {
  const numbers = new Map([...names].map((name, index) => [name, index]));
  const byLength: NumberedName[][] = [];
  for (const [name, number] of numbers) {
    const bytes = new Uint8Array(Buffer.from(name));
    (byLength[bytes.length] ??= []).push({ bytes, number });
  }
  return { numbers, byLength, order: [] };
}

/**
 * Limits of the remembered order. An object with more or longer names is a map with arbitrary keys, not an object with
 * fixed members.
 */
const MAX_NAMES = 100;
const MAX_NAME_BYTES = 100;

/**
 * Reads the name of the `index`th member of an object. Objects of one kind nearly always have their members in the same
 * order, so the name that the last object had at this index is compared first.
 *
 * @throws {RangeError} If too many names of the text differ from that order.
 */
export function nameAt(cursor: Cursor, at: number, members: MemberTable, index: number): MemberName {
  const last = members.order[index];
  return last !== undefined && hasWordsAt(last, cursor, at) ? last : readName(cursor, at, members, index);
}

function matchesAt(part: Uint8Array, bytes: Uint8Array, at: number): boolean {
  for (let index = 0; index < part.length; index += 1)
    if (byteAt(bytes, at + index) !== part[index]) return false;
  return true;
}

/** Compares four bytes at once: names are a third of all bytes of a list. */
function hasWordsAt({ words, length }: MemberName, { view, lastGroup }: Cursor, at: number): boolean {
  const last = words.length - 1;
  const lastAt = at + length - 4;
  if (last < 0 || lastAt > lastGroup) return false;
  for (let index = 0; index < last; index += 1)
    if (view.getInt32(at + 4 * index, true) !== words[index]) return false;
  return view.getInt32(lastAt, true) === words[last];
}

const NOT_REMEMBERED = new Int32Array();

/** Up to the colon, only the empty name has fewer than four bytes. */
function readWords(view: DataView, at: number, length: number): Int32Array {
  if (length < 4) return NOT_REMEMBERED;
  return Int32Array.from({ length: Math.ceil(length / 4) }, (_, index) =>
    view.getInt32(at + Math.min(4 * index, length - 4), true),
  );
}

function readName(cursor: Cursor, at: number, members: MemberTable, index: number): MemberName {
  const { bytes } = cursor;
  cursor.namesLeft -= 1;
  if (cursor.namesLeft < 0)
    throw new RangeError(`JSON with more than ${MAX_UNEXPECTED_NAMES} members that are not expected`);
  const endOfText = byteAt(bytes, at) === quote ? endOfString(cursor, at) : notJson();
  const length = endOfColon(bytes, endOfText) - at;
  const number = findName(bytes, at, endOfText, members);
  if (index >= MAX_NAMES || length > MAX_NAME_BYTES) return { words: NOT_REMEMBERED, length, number };
  const name = { words: readWords(cursor.view, at, length), length, number };
  members.order[index] = name;
  return name;
}

/** Returns the number of the name between two offsets, quotes included. A string is only created for a name with escapes. */
function findName(bytes: Buffer, at: number, end: number, { numbers, byLength }: MemberTable): number {
  for (const { bytes: name, number } of byLength[end - at - 2] ?? [])
    if (matchesAt(name, bytes, at + 1)) return number;
  for (let offset = at; offset < end; offset += 1)
    if (bytes[offset] === backslash)
      return numbers.get(fromJsonText(bytes.toString("utf8", at, end)) as string) ?? -1;
  return -1;
}

/** Returns the text of each item of an array. */
export function itemsOf(text: string): string[] {
  const items: string[] = [];
  const from = cursorAt(text);
  forEachItem(from, () => items.push(readRaw(from)));
  return items;
}

/**
 * Visits the members of the object at the cursor. `visit` gets the number of each member, and must move the cursor
 * behind its value.
 */
export function forEachMember(cursor: Cursor, members: MemberTable, visit: (number: number) => void): void {
  const { bytes } = cursor;
  cursor.at = skipWhitespace(bytes, cursor.at + 1);
  if (byteAt(bytes, cursor.at) === closeBrace) return void (cursor.at += 1);
  for (let index = 0; ; index += 1) {
    const name = nameAt(cursor, cursor.at, members, index);
    cursor.at = skipWhitespace(bytes, cursor.at + name.length);
    visit(name.number);
    if (consumeSeparator(cursor, closeBrace)) return;
  }
}

/** Visits the items of the array at the cursor. `visit` must move the cursor behind the item. */
export function forEachItem(cursor: Cursor, visit: () => void): void {
  const { bytes } = cursor;
  cursor.at = skipWhitespace(bytes, cursor.at + 1);
  if (byteAt(bytes, cursor.at) === closeBracket) return void (cursor.at += 1);
  for (;;) {
    visit();
    if (consumeSeparator(cursor, closeBracket)) return;
  }
}

/** Moves the cursor over a comma, or over the closing bracket. @returns Whether it was the bracket. */
function consumeSeparator(cursor: Cursor, close: number): boolean {
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
