import { plainText } from "./plain-text.ts";

/** A set of names of a route, with one bit for each name. They are counted, and are not part of a record's text. */
export class NumberedNames {
  /** All names of the route, in the order of their bits. */
  readonly names: readonly string[];
  /** The names whose bits are set, as JSON; undefined if none is. */
  readonly text: string | undefined;
  readonly #bits: Uint8Array;

  /** @param bits one for each name: the first name is the highest bit of the first byte */
  constructor(names: readonly string[], bits: Uint8Array) {
    this.names = names;
    const set = names.filter((_, index) => (bits[index >> 3] ?? 0) & (0x80 >> (index & 7)));
    this.text = set.length > 0 ? JSON.stringify(set.map(plainText)) : undefined;
    this.#bits = bits;
  }

  /** Whether these bits select the same names. @param bits must belong to the same list of names */
  isSame(bits: Uint8Array): boolean {
    const own = this.#bits;
    return bits.length === own.length && bits.every((byte, at) => byte === own[at]);
  }
}

/** The names of the last request of each route: most requests of a route contain the same names, and then share one object. */
const latest = new WeakMap<readonly string[], NumberedNames>();

/** Returns the names that bits select. @param names All names of the route. @param bits must not be changed later */
export function numberedNames(names: readonly string[], bits: Uint8Array): NumberedNames {
  const last = latest.get(names);
  if (last?.isSame(bits)) return last;
  const numbered = new NumberedNames(names, bits);
  latest.set(names, numbered);
  return numbered;
}
