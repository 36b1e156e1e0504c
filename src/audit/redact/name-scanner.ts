import type { FoldedName } from "./fold-name.ts";

/** A state of the automaton. It stands for the letters of names that were read last. */
interface State {
  readonly id: number;
  readonly next: Map<number, State>;
  /** The state of the longest suffix of these letters with which a name starts. */
  fallback: State | undefined;
  /** The ends of a name, if its letters match. */
  readonly ends: ((byte: number) => boolean)[];
}

const BYTES = 256;
const TAB = 0x09;

/** The test whether a character of one byte matches a pattern. */
function byteTest(pattern: RegExp): (byte: number) => boolean {
  const matches = Array.from({ length: BYTES }, (_, byte) => pattern.test(String.fromCharCode(byte)));
  return (byte) => matches[byte] === true;
}

/** The characters that may be between the letters of a name. */
const isBetween = byteTest(/[\0-\x20+_\x7f-]/);
/** The characters that may hide letters: escapes, and everything outside of ASCII. */
const isHiding = byteTest(/[%\\\x80-\xff]/);

const isEndOfWord = byteTest(/[^a-z\d\0-\x20+_\x7f-]/i);

/**
 * The characters that end a name, by the place where it counts. A capital letter ends a part, and so does a
 * separator. A tab may be between letters, and in a table it is before the value.
 */
const END_OF_NAME: Readonly<Record<FoldedName["place"], (byte: number) => boolean>> = {
  alone: (byte) => byte === TAB || isEndOfWord(byte),
  part: byteTest(/[^a-z\0]/),
  anywhere: (byte) => byte === TAB || !isBetween(byte),
};

/**
 * Their value may be the name of a secret, or their name may be elsewhere. No separator may end it: `name=` and
 * `name*=` in a text, `value=`, `value2=`, `value[]=` and `value.x=` in a form.
 */
const FORM_NAMES = {
  name: byteTest(/[=*[\].]/),
  value: byteTest(/[=*[\].\d]/),
  values: byteTest(/[=*[\].\d]/),
};

const TESTS = [isHiding, isBetween, ...Object.values(END_OF_NAME), ...Object.values(FORM_NAMES)];

const toLowerCase = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);

/**
 * A key that is equal for all bytes with the same transitions: each letter has its own, and other bytes share one if
 * they match the same tests.
 */
const columnKey = (byte: number): string => {
  const letter = isEndOfWord(byte) || isBetween(byte) ? "" : toLowerCase(byte);
  return `${letter} ${TESTS.map((test) => test(byte)).join()}`;
};

/** The states for all starts of all names (Aho and Corasick, 1975). */
function createStates(names: readonly FoldedName[]): State[] {
  const create = (id: number): State => ({ id, next: new Map(), fallback: undefined, ends: [] });
  const root = create(0);
  const states = [root];
  const add = (name: string, end: (byte: number) => boolean): void => {
    let state = root;
    for (const byte of Buffer.from(name)) {
      const next = state.next.get(byte) ?? create(states.length);
      if (next.id === states.length) states.push(next);
      state.next.set(byte, next);
      state = next;
    }
    state.ends.push(end);
  };
  for (const { name, place } of names) add(name, END_OF_NAME[place]);
  for (const [name, end] of Object.entries(FORM_NAMES)) add(name, end);
  // Breadth first, because a fallback is shorter than its state.
  for (const queue = [root]; queue.length > 0;) {
    const state = queue.shift() as State;
    for (const [byte, next] of state.next) {
      next.fallback = state === root ? root : follow(state.fallback ?? root, byte);
      next.ends.push(...next.fallback.ends);
      queue.push(next);
    }
  }
  return states;
}

/** The state after a letter. */
function follow(state: State, byte: number): State {
  const next = state.next.get(byte);
  if (next || !state.fallback) return next ?? state;
  return follow(state.fallback, byte);
}

/**
 * Tests whether a text may contain the name of a secret with something after it, or characters that may hide one. It
 * never misses one. It makes one look-up for each byte.
 */
export class NameScanner {
  /** The column of each byte. Most bytes occur in no name. */
  readonly #columns: Uint8Array;
  /** The next state for a state and a byte, as the offset of its row. */
  readonly #table: Int32Array;
  /** The row of the final state: a name was found. */
  readonly #found: number;

  constructor(names: readonly FoldedName[]) {
    const states = createStates(names);
    const keys = Array.from({ length: BYTES }, (_, byte) => columnKey(byte));
    const columns = [...new Set(keys)];
    this.#columns = Uint8Array.from(keys, (key) => columns.indexOf(key));
    this.#found = states.length * columns.length;
    const bytes = columns.map((key) => keys.indexOf(key));
    const rows = states.flatMap((state) => bytes.map((byte) => this.#next(state, byte, states.length)));
    this.#table = Int32Array.from(rows, (next) => next * columns.length);
  }

  #next(state: State, byte: number, found: number): number {
    if (isHiding(byte) || state.ends.some((ends) => ends(byte))) return found;
    return isBetween(byte) ? state.id : follow(state, toLowerCase(byte)).id;
  }

  inBytes(bytes: Uint8Array): boolean {
    const [columns, table, found] = [this.#columns, this.#table, this.#found];
    let state = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      state = table[state + (columns[bytes[at] as number] as number)] as number;
      if (state === found) return true;
    }
    return false;
  }

  inText(text: string): boolean {
    const [columns, table, found] = [this.#columns, this.#table, this.#found];
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      state = table[state + (columns[Math.min(text.charCodeAt(at), BYTES - 1)] as number)] as number;
      if (state === found) return true;
    }
    return false;
  }
}
