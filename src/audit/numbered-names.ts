/** Some names of a route: one bit for each name that it has. They are counted, and are no part of a record's text. */
export class NumberedNames {
  /** The hash of the pack that has the names. */
  readonly pack: string;
  /** All names of the route, in the order of their bits. */
  readonly names: readonly string[];
  /** One bit for each name, in hexadecimal digits: the first name is the highest bit of the first byte. */
  readonly bits: string;

  constructor(pack: string, names: readonly string[], bits: Uint8Array) {
    this.pack = pack;
    this.names = names;
    this.bits = Buffer.from(bits.buffer, bits.byteOffset, bits.length).toString("hex");
  }

  /** JSON leaves it out. */
  toJSON(): undefined {
    return undefined;
  }
}

/** The pack and the bits of names, separated by a blank, as a row of a record has them. */
export const bitsText = (names: NumberedNames | undefined): string | undefined =>
  names && `${names.pack} ${names.bits}`;
