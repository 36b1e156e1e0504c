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
    const ends = [...names.map(({ name, place }) => [name, END_OF_NAME[place]] as const), ...FORM_NAMES];
    const states = new Map([["", 0]]);
    for (const [name] of ends)
      for (let length = 1; length <= name.length; length += 1)
        states.set(name.slice(0, length), states.get(name.slice(0, length)) ?? states.size);
    const chars = Array.from({ length: BYTES }, (_, byte) => representative(String.fromCharCode(byte)));
    const columns = [...new Set(chars)];
    this.#columns = Uint8Array.from(chars, (char) => columns.indexOf(char));
    this.#found = states.size * columns.length;
    const rows = [...states.keys()].flatMap((state) => {
      const own = ends.filter(([name]) => state.endsWith(name)).map(([, end]) => end);
      return columns.map((char) => {
        if (HIDING.test(char) || own.some((end) => end.test(char))) return states.size;
        // The longest end of the letters that is the start of a name.
        let next = BETWEEN.test(char) ? state : state + char.toLowerCase();
        while (!states.has(next)) next = next.slice(1);
        return states.get(next) ?? 0;
      });
    });
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
