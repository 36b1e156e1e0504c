import type { NameRule } from "./name-rules.ts";

/** A name without punctuation between its letters, and how it must occur. */
type ScannedName = Pick<NameRule, "name" | "place">;

/** A state of the automaton. It represents the most recently read letters of names. */
interface State {
  readonly id: number;
  readonly next: Map<string, State>;
  /** The state of the longest suffix of these letters that is the start of a name. */
  fallback: State | undefined;
  /** The characters that may follow a name after its last letter was read. */
  readonly ends: RegExp[];
}

const BYTES = 256;
/** Matches characters that may be between the letters of a name. */
const BETWEEN = /[\0-\x20+_\x7f-]/;
/** Matches characters that may hide letters: escapes, and all non-ASCII characters. */
const HIDING = /[%\\\x80-\xff]/;

/**
 * The characters that end a name, by the way in which it must occur. A capital letter ends a part, and so does a
 * separator. A tab may be between letters, and in a table it is before the value.
 */
const END_OF_NAME: Readonly<Record<ScannedName["place"], RegExp>> = {
  alone: /[^a-z\d\0-\x20+_\x7f-]|\t/i,
  part: /[^a-z\0]/,
  anywhere: /[^\0-\x20+_\x7f-]|\t/,
};

/**
 * Names whose value may be the name of a secret, or whose own name may be elsewhere. They need no separator after them:
 * `name=` and `name*=` in a text, `value=`, `value2=`, `value[]=` and `value.x=` in a form.
 */
const FORM_NAMES: readonly (readonly [name: string, end: RegExp])[] = [
  ["name", /[=*[\].]/],
  ["value", /[=*[\].\d]/],
  ["values", /[=*[\].\d]/],
];

/** Returns the character that represents all characters which lead from each state to the same state. */
function representative(char: string): string {
  if (HIDING.test(char)) return "%";
  if (/[a-z\d\t\0=*[\].]/i.test(char)) return char;
  return BETWEEN.test(char) ? "_" : ":";
}

/** Creates the states for all starts of all names (Aho and Corasick, 1975). */
function createStates(names: readonly (readonly [name: string, end: RegExp])[]): State[] {
  const root: State = { id: 0, next: new Map(), fallback: undefined, ends: [] };
  const states = [root];
  for (const [name, end] of names) {
    let state = root;
    for (const letter of name) {
      const next = state.next.get(letter) ?? { id: states.length, next: new Map(), fallback: root, ends: [] };
      if (next.id === states.length) states.push(next);
      state.next.set(letter, next);
      state = next;
    }
    state.ends.push(end);
  }
  // Breadth first, because a fallback is shorter than its state. The loop also visits the states that are added during it.
  const queue = [root];
  for (const state of queue) {
    for (const [letter, next] of state.next) {
      next.fallback = state.fallback ? follow(state.fallback, letter) : root;
      next.ends.push(...next.fallback.ends);
      queue.push(next);
    }
  }
  return states;
}

/** Returns the state after a letter. */
function follow(state: State, letter: string): State {
  return state.next.get(letter) ?? (state.fallback ? follow(state.fallback, letter) : state);
}

/**
 * Tests whether a text may contain the name of a secret followed by a value, or characters that may hide a name. It has
 * no false negatives, and makes one look-up per character.
 */
export class NameScanner {
  /** The column of the table for each byte. */
  readonly #columns: Uint8Array;
  /** The next state for a state and a byte, as the offset of its row. */
  readonly #table: Int32Array;
  /** The row of the final state: a name was found. */
  readonly #found: number;

  constructor(names: readonly ScannedName[]) {
    const states = createStates([
      ...names.map(({ name, place }) => [name, END_OF_NAME[place]] as const),
      ...FORM_NAMES,
    ]);
    const chars = Array.from({ length: BYTES }, (_, byte) => representative(String.fromCharCode(byte)));
    const columns = [...new Set(chars)];
    this.#columns = Uint8Array.from(chars, (char) => columns.indexOf(char));
    this.#found = states.length * columns.length;
    const after = (state: State, char: string): number => {
      if (HIDING.test(char) || state.ends.some((end) => end.test(char))) return states.length;
      return BETWEEN.test(char) ? state.id : follow(state, char.toLowerCase()).id;
    };
    const rows = states.flatMap((state) => columns.map((char) => after(state, char)));
    this.#table = Int32Array.from(rows, (next) => next * columns.length);
  }

  /** @param text the text. Characters above U+00FF, and bytes of UTF-8 above 0x7f that were read as Latin-1, may hide a name */
  finds(text: string): boolean {
    const [columns, table, found] = [this.#columns, this.#table, this.#found];
    let state = 0;
    for (let at = 0; at < text.length; at += 1) {
      state = table[state + (columns[Math.min(text.charCodeAt(at), BYTES - 1)] as number)] as number;
      if (state === found) return true;
    }
    return false;
  }
}
