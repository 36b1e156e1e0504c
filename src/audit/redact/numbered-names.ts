/** Some names of a route: one bit for each name that it has. They are counted, and are no part of a record's text. */
export class NumberedNames {
  /** The hash of the pack that has the names. */
  readonly pack: string;
  /** All names of the route, in the order of their bits. */
  readonly names: readonly string[];
  /** One bit for each name, in hexadecimal digits: the first name is the highest bit of the first byte. */
  readonly bits: string;
  /** The pack and the bits, separated by a blank, as a row of a record has them; undefined if no bit is set. */
  readonly text: string | undefined;
  readonly #bytes: Uint8Array;

  constructor(pack: string, names: readonly string[], bits: Uint8Array) {
    this.pack = pack;
    this.names = names;
    this.bits = Buffer.from(bits.buffer, bits.byteOffset, bits.length).toString("hex");
    this.text = bits.some(Boolean) ? `${pack} ${this.bits}` : undefined;
    this.#bytes = bits;
  }

  /** Whether these are the names that bits of the same list stand for. */
  isSame(pack: string, bits: Uint8Array): boolean {
    const own = this.#bytes;
    return pack === this.pack && bits.length === own.length && bits.every((byte, at) => byte === own[at]);
  }
}

/** The names of the last request of each route: most requests of a route have the same, and then share one object. */
const latest = new WeakMap<readonly string[], NumberedNames>();

/** The names that bits stand for. @param names All names of the route. @param bits They must not be changed later */
export function numberedNames(pack: string, names: readonly string[], bits: Uint8Array): NumberedNames {
  const last = latest.get(names);
  if (last?.isSame(pack, bits)) return last;
  const numbered = new NumberedNames(pack, names, bits);
  latest.set(names, numbered);
  return numbered;
}
