import type { NameRule } from "./name-rules.ts";

/** A name without punctuation between its letters, and how it must occur. */
type ScannedName = Pick<NameRule, "name" | "place">;

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

  /** Creates the automaton of Aho and Corasick (1975): its states are the starts of all names. */
  constructor(names: readonly ScannedName[]) {
    const ends = new Map<string, RegExp[]>();
    for (const [name, end] of [
      ...names.map(({ name, place }) => [name, END_OF_NAME[place]] as const),
      ...FORM_NAMES,
    ])
      ends.set(name, [...(ends.get(name) ?? []), end]);
    const starts = new Set([""]);
    for (const name of ends.keys())
      for (let length = 1; length <= name.length; length += 1) starts.add(name.slice(0, length));
    const states = [...starts].toSorted((one, other) => one.length - other.length);
    const numbers = new Map(states.map((state, number) => [state, number]));
    const chars = Array.from({ length: BYTES }, (_, byte) => representative(String.fromCharCode(byte)));
    const columns = [...new Set(chars)];
    this.#columns = Uint8Array.from(chars, (char) => columns.indexOf(char));
    const found = states.length;
    this.#found = found * columns.length;
    /** The next state for each state and column. */
    const rows: number[][] = [];
    for (const [number, state] of states.entries()) {
      // The longest end of the state that is also a start of a name. Its row is known, because it is shorter.
      let end = state.slice(1);
      while (!numbers.has(end)) end = end.slice(1);
      const rest = state === "" ? undefined : rows[numbers.get(end) as number];
      const own = ends.get(state) ?? [];
      rows.push(
        columns.map((char, column) => {
          const next = rest?.[column] ?? 0;
          if (next === found || HIDING.test(char) || own.some((each) => each.test(char))) return found;
          if (BETWEEN.test(char)) return number;
          return numbers.get(state + char.toLowerCase()) ?? next;
        }),
      );
    }
    this.#table = Int32Array.from(rows.flat(), (next) => next * columns.length);
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
