import { endianness } from "node:os";
import type { FoldedName } from "./secret-names.ts";

/** Whether a body may have the name of a secret, user info of a URL, or what may hide one. Never wrongly false. */
export type MayHaveName = (bytes: Uint8Array) => boolean;

/** A state of the automaton: the letters of names that were read last. */
interface State {
  readonly id: number;
  readonly next: Map<number, State>;
  /** The state of the longest suffix of these letters that is the start of a name. */
  fallback: State | undefined;
  /** Bytes that end a name, if the letters are one. */
  endsBefore: (byte: number) => boolean;
}

const BYTES = 256;
const IS_LITTLE_ENDIAN = endianness() === "LE";
/** Bytes that are read at once: a multiple of 16. */
const PIECE = 65_536;
/** The test whether a character of one byte matches a pattern. */
function byteTest(pattern: RegExp): (byte: number) => boolean {
  const matches = Array.from({ length: BYTES }, (_, byte) => pattern.test(String.fromCharCode(byte)));
  return (byte) => matches[byte] === true;
}

const isLetter = byteTest(/[a-z0-9]/i);
const isUpperCase = (byte: number): boolean => byte >= 0x41 && byte <= 0x5a;
const isLowerCase = (byte: number): boolean => byte >= 0x61 && byte <= 0x7a;
/** What may be between the letters of a name, as in `foldName`. */
const isBetween = byteTest(/[\0-\x20+_\x7f-]/);
/** What may hide letters: escapes, and all that is not ASCII. */
const isHiding = byteTest(/[%\\\x80-\xff]/);

/** What may be in front of the user info of a URL. */
const SLASHES = "//";
/** `name=` and `name*=` in a text may be followed by the name of a secret without a sign that ends it. */
const FORM_NAME = "name";
const isFormSign = byteTest(/[=*]/);

/**
 * What ends a name, by where it counts. A part ends with a sign between letters, too, which nothing else reads, and with a
 * capital letter.
 */
const END_OF_NAME: Readonly<Record<FoldedName["place"], (byte: number) => boolean>> = {
  alone: (byte) => !isLetter(byte) && !isBetween(byte),
  // NUL is behind the end of a body.
  part: (byte) => byte !== 0 && !isLowerCase(byte),
  anywhere: (byte) => !isBetween(byte),
};

/** The states for all starts of all names (Aho and Corasick, 1975). */
function createStates(names: readonly FoldedName[]): State[] {
  const states: State[] = [];
  const create = (): State => {
    const state = { id: states.length, next: new Map(), fallback: undefined, endsBefore: () => false };
    states.push(state);
    return state;
  };
  const root = create();
  const add = (name: string, endsBefore: State["endsBefore"]): void => {
    let state = root;
    for (const byte of Buffer.from(name)) {
      const next: State = state.next.get(byte) ?? create();
      state.next.set(byte, next);
      state = next;
    }
    const { endsBefore: others } = state;
    state.endsBefore = (byte) => others(byte) || endsBefore(byte);
  };
  for (const { name, place } of names) add(name, END_OF_NAME[place]);
  add(SLASHES, (byte) => !isBetween(byte));
  add(FORM_NAME, isFormSign);

  // Breadth first: a fallback is shorter than its state.
  for (const queue = [root]; queue.length > 0;) {
    const state = queue.shift() as State;
    for (const [byte, next] of state.next) {
      next.fallback = state === root ? root : follow(state.fallback ?? root, byte);
      const { endsBefore, fallback } = next;
      next.endsBefore = (byte) => endsBefore(byte) || fallback.endsBefore(byte);
      queue.push(next);
    }
  }
  return states;
}

/** The state after a letter. */
function follow(state: State, byte: number): State {
  for (let from: State | undefined = state; from; from = from.fallback) {
    const next = from.next.get(byte);
    if (next) return next;
    if (!from.fallback) return from;
  }
  return state;
}

/** The state after each state, for one byte. */
type Column = Int32Array;

/** The columns without duplicates, and for each of `columns` the index of its equal: most bytes are in no name. */
function withoutDuplicates(columns: readonly Column[]): {
  readonly distinct: readonly Column[];
  readonly indexes: Uint16Array;
} {
  const found = new Map<string, number>();
  const distinct: Column[] = [];
  const indexes = Uint16Array.from(columns, (column) => {
    const key = Buffer.from(column.buffer).toString("latin1");
    const index = found.get(key) ?? distinct.length;
    if (index < distinct.length) return index;
    found.set(key, index);
    distinct.push(column);
    return index;
  });
  return { distinct, indexes };
}

/** The column of each byte. A name was found: the state after the last one, which is never left. */
function byteColumns(states: readonly State[]): Column[] {
  const found = states.length;
  const hiding = new Int32Array(found + 1).fill(found);
  return Array.from({ length: BYTES }, (_, byte) => {
    if (isHiding(byte)) return hiding;
    const letter = isUpperCase(byte) ? byte | 0x20 : byte;
    const between = isBetween(byte);
    return hiding.map((_, id) => {
      const state = states[id];
      if (!state || state.endsBefore(byte)) return found;
      return between ? id : follow(state, letter).id;
    });
  });
}

/** A state machine that reads pairs of bytes. */
interface Automaton {
  /** The kind of each pair of bytes. The first is the lower byte, so a byte alone is a pair with NUL, which is ignored. */
  readonly pairs: Uint16Array;
  /** The states after a state and each kind of pair. A state is the offset of its row. */
  readonly table: Int32Array;
  /** The state that is never left: a name was found. */
  readonly found: number;
}

function createAutomaton(names: readonly FoldedName[]): Automaton {
  const states = createStates(names);
  const { distinct, indexes } = withoutDuplicates(byteColumns(states));
  const kinds = distinct.length;
  const pairs = new Uint16Array(BYTES * BYTES);
  for (const [second, kind] of indexes.entries())
    pairs.set(
      indexes.map((first) => first * kinds + kind),
      second * BYTES,
    );
  const width = kinds * kinds;
  const rows = Array.from({ length: states.length + 1 }, (_, id) =>
    Int32Array.from(distinct, (column) => (column[id] as number) * width),
  );
  const table = new Int32Array(rows.length * width);
  for (const [id, row] of rows.entries()) {
    for (const [first, next] of row.entries())
      table.set(rows[next / width] as Int32Array, id * width + first * kinds);
  }
  return { pairs, table, found: states.length * width };
}

/**
 * Reads four parts of a body at the same time, because each look-up of a part must wait for the one before. The states at
 * their ends go to `ends`. The arrays are parameters: from an object or a closure V8 reads them again for each look-up.
 *
 * @param words The parts, one after the other. The first byte is the lowest one of a word.
 * @param quarter The words of each part.
 */
function readParts(
  words: Int32Array,
  quarter: number,
  pairs: Uint16Array,
  table: Int32Array,
  ends: Int32Array,
): void {
  const [second, third] = [2 * quarter, 3 * quarter];
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let at = 0; at < quarter; at += 1) {
    const wordA = words[at] as number;
    const wordB = words[at + quarter] as number;
    const wordC = words[at + second] as number;
    const wordD = words[at + third] as number;
    a = table[a + (pairs[wordA & 0xffff] as number)] as number;
    b = table[b + (pairs[wordB & 0xffff] as number)] as number;
    c = table[c + (pairs[wordC & 0xffff] as number)] as number;
    d = table[d + (pairs[wordD & 0xffff] as number)] as number;
    a = table[a + (pairs[wordA >>> 16] as number)] as number;
    b = table[b + (pairs[wordB >>> 16] as number)] as number;
    c = table[c + (pairs[wordC >>> 16] as number)] as number;
    d = table[d + (pairs[wordD >>> 16] as number)] as number;
  }
  ends[0] = a;
  ends[1] = b;
  ends[2] = c;
  ends[3] = d;
}

/** The scanner that was compiled last: packs are loaded again, and most have the same names. */
let latest: { readonly names: string; readonly scanner: MayHaveName } | undefined;

/** Returns the scanner for these names. */
export function createNameScanner(all: readonly FoldedName[]): MayHaveName {
  const names = JSON.stringify(all);
  if (latest?.names !== names) latest = { names, scanner: compileScanner(all) };
  return latest.scanner;
}

/** Compiles the names to an automaton that reads two bytes at a time, without a branch. */
function compileScanner(names: readonly FoldedName[]): MayHaveName {
  const { pairs, table, found } = createAutomaton(names);
  const piece = new Uint8Array(PIECE);
  const words = new Int32Array(piece.buffer);
  const ends = new Int32Array(4);

  /** Reads on until a name is found, or until no name that started before can continue. */
  function finish(from: number, bytes: Uint8Array, start: number): boolean {
    let state = from;
    for (let at = start; at < bytes.length && state !== 0 && state !== found; at += 1)
      state = table[state + (pairs[bytes[at] as number] as number)] as number;
    return state === found;
  }

  /** Whether a name starts in the piece of the body at an offset. */
  function startsIn(bytes: Uint8Array, from: number): boolean {
    const length = Math.min(bytes.length - from, PIECE);
    // A copy, because words must be aligned. NUL after it is ignored, as between letters.
    piece.set(length === bytes.length ? bytes : bytes.subarray(from, from + length));
    const quarter = (length + 15) >>> 4;
    piece.fill(0, length, 16 * quarter);
    if (!IS_LITTLE_ENDIAN) Buffer.from(piece.buffer).swap32();
    readParts(words, quarter, pairs, table, ends);
    return ends.some((end, part) => finish(end, bytes, from + 4 * (part + 1) * quarter));
  }

  return (bytes) => {
    for (let from = 0; from < bytes.length; from += PIECE) if (startsIn(bytes, from)) return true;
    return false;
  };
}
