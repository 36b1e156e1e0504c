import { Failure } from "../failure.ts";
import { regularDistance } from "./number-picture.ts";

/** Pictures of integers: XPath Functions and Operators 3.1, 4.6.1, as far as JSONata follows it. */

interface Separator {
  /** How many digits stand right of it. */
  readonly place: number;
  readonly sign: string;
}

export type IntegerFormat =
  | { readonly style: "letters" | "roman"; readonly upper: boolean }
  | { readonly style: "words"; readonly letters: "upper" | "lower" | "title"; readonly ordinal: boolean }
  | {
      readonly style: "digits";
      readonly ordinal: boolean;
      /** The code point of the digit zero. */
      readonly zero: number;
      readonly least: number;
      readonly separators: readonly Separator[];
      /** The distance of the separators where all are alike and have one, or 0. */
      readonly every: number;
    };

/** Where Unicode's families of decimal digits start. */
const ZEROS = [
  0x30, 0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
  0x0de6, 0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
  0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

const LETTERS = { A: true, a: false } as const;
const ROMAN = { I: true, i: false } as const;
const WORDS = { W: "upper", w: "lower", Ww: "title" } as const;

const has = <T extends object>(table: T, key: PropertyKey): key is keyof T => Object.hasOwn(table, key);

/** @throws {Failure} D3130 for a picture that is none, D3131 for one with digits of two families. */
export function integerFormat(picture: string): IntegerFormat {
  const semicolon = picture.lastIndexOf(";");
  const format = semicolon === -1 ? picture : picture.slice(0, semicolon);
  const ordinal = semicolon !== -1 && picture.charAt(semicolon + 1) === "o";
  if (has(LETTERS, format)) return { style: "letters", upper: LETTERS[format] };
  if (has(ROMAN, format)) return { style: "roman", upper: ROMAN[format] };
  if (has(WORDS, format)) return { style: "words", letters: WORDS[format], ordinal };
  return digitFormat(format, ordinal);
}

function digitFormat(format: string, ordinal: boolean): IntegerFormat {
  const separators: Separator[] = [];
  const zeros = new Set<number>();
  let least = 0;
  let place = 0;
  for (const sign of Array.from(format).toReversed()) {
    const code = sign.codePointAt(0) as number;
    const zero = ZEROS.find((first) => code >= first && code <= first + 9);
    if (zero !== undefined) zeros.add(zero);
    if (zeros.size > 1) throw new Failure("D3131");
    if (zero === undefined && sign !== "#") separators.push({ place, sign });
    else place += 1;
    if (zero !== undefined) least += 1;
  }
  const [zero] = zeros;
  if (zero === undefined) throw new Failure("D3130");
  return { style: "digits", ordinal, zero, least, separators, every: distance(separators) };
}

function distance(separators: readonly Separator[]): number {
  const signs = new Set(separators.map(({ sign }) => sign));
  return signs.size === 1 ? regularDistance(separators.map(({ place }) => place)) : 0;
}
