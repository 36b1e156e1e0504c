import { regularDistance } from "./number-picture.ts";
import { Failure } from "../failure.ts";
import { fromWords, toWords } from "./number-words.ts";
import { rememberPictures } from "./picture-cache.ts";

// Pictures of integers: XPath Functions and Operators 3.1, section 4.6.1, as far as JSONata implements it.

interface Separator {
  /** Number of digits to the right of it. */
  readonly position: number;
  readonly sign: string;
}

/** What a picture of an integer asks for. */
export type IntegerFormat =
  /** JSONata has no such numerals. */
  | { readonly style: "unknown" }
  | { readonly style: "letters" | "roman"; readonly upper: boolean }
  | { readonly style: "words"; readonly letters: "upper" | "lower" | "title"; readonly ordinal: boolean }
  | {
      readonly style: "digits";
      readonly ordinal: boolean;
      /** The code point of the digit zero. */
      readonly zero: number;
      readonly least: number;
      /** Number of `#`. */
      readonly optional: number;
      readonly separators: readonly Separator[];
      /** The regular distance between equal separators; 0 if there is none. */
      readonly every: number;
    };

/** The code points of the digit zero in Unicode's scripts. */
const ZEROS = [
  0x30, 0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66,
  0x0de6, 0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50,
  0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

const LETTERS = { A: true, a: false } as const;
const ROMAN = { I: true, i: false } as const;
const WORDS = { W: "upper", w: "lower", Ww: "title" } as const;

const has = <T extends object>(table: T, key: PropertyKey): key is keyof T => Object.hasOwn(table, key);

/** Parses a picture of an integer. @throws {Failure} D3131 If it has digits of two scripts, too_large. */
export const parseIntegerPicture = rememberPictures((picture: string): IntegerFormat => {
  const semicolon = picture.lastIndexOf(";");
  const format = semicolon === -1 ? picture : picture.slice(0, semicolon);
  const ordinal = semicolon !== -1 && picture.charAt(semicolon + 1) === "o";
  if (has(LETTERS, format)) return { style: "letters", upper: LETTERS[format] };
  if (has(ROMAN, format)) return { style: "roman", upper: ROMAN[format] };
  if (has(WORDS, format)) return { style: "words", letters: WORDS[format], ordinal };
  return digitFormat(format, ordinal);
});

function digitFormat(format: string, ordinal: boolean): IntegerFormat {
  const separators: Separator[] = [];
  const zeros = new Set<number>();
  let least = 0;
  let optional = 0;
  let position = 0;
  for (const sign of Array.from(format).toReversed()) {
    const code = sign.codePointAt(0) as number;
    const zero = ZEROS.find((first) => code >= first && code <= first + 9);
    if (zero !== undefined) zeros.add(zero);
    if (zeros.size > 1) throw new Failure("D3131");
    if (zero === undefined && sign !== "#") separators.push({ position, sign });
    else position += 1;
    if (zero !== undefined) least += 1;
    else if (sign === "#") optional += 1;
  }
  const [zero] = zeros;
  if (zero === undefined) return { style: "unknown" };
  return { style: "digits", ordinal, zero, least, optional, separators, every: distance(separators) };
}

function distance(separators: readonly Separator[]): number {
  const signs = new Set(separators.map(({ sign }) => sign));
  return signs.size === 1 ? regularDistance(separators.map(({ position }) => position)) : 0;
}

const NUMERALS: readonly (readonly [number, string])[] = [
  [1000, "m"],
  [900, "cm"],
  [500, "d"],
  [400, "cd"],
  [100, "c"],
  [90, "xc"],
  [50, "l"],
  [40, "xl"],
  [10, "x"],
  [9, "ix"],
  [5, "v"],
  [4, "iv"],
  [1, "i"],
];

/** M is the largest Roman numeral, so a huge number would become a huge string. */
const LARGEST_ROMAN = 1e7;

function toRoman(value: number): string {
  if (value > LARGEST_ROMAN) throw new Failure("D1011");
  let left = value;
  let text = "";
  for (const [worth, numeral] of NUMERALS)
    while (left >= worth) {
      text += numeral;
      left -= worth;
    }
  return text;
}

function fromRoman(text: string): number {
  const worths = Array.from(
    text,
    (letter) => NUMERALS.find(([, numeral]) => numeral.toUpperCase() === letter)?.[0],
  );
  let most = 1;
  return worths.reduceRight<number>((sum, worth = Number.NaN) => {
    if (worth < most) return sum - worth;
    most = worth;
    return sum + worth;
  }, 0);
}

/** a, b, … z, aa, ab, … */
function toLetters(value: number, upper: boolean): string {
  const first = (upper ? "A" : "a").charCodeAt(0);
  let text = "";
  for (let left = value; left > 0; left = Math.floor((left - 1) / 26))
    text = String.fromCharCode(((left - 1) % 26) + first) + text;
  return text;
}

function fromLetters(text: string, upper: boolean): number {
  const before = (upper ? "A" : "a").charCodeAt(0) - 1;
  let sum = 0;
  for (let index = 0; index < text.length; index += 1)
    sum += (text.charCodeAt(text.length - index - 1) - before) * 26 ** index;
  return sum;
}

type Digits = Extract<IntegerFormat, { style: "digits" }>;

const shiftDigits = (digits: string, by: number): string =>
  Array.from(digits, (digit) => String.fromCodePoint((digit.codePointAt(0) as number) + by)).join("");

function insertSeparators(digits: string, { every, separators }: Digits): string {
  const sign = separators[0]?.sign ?? "";
  if (every > 0) {
    const groups: string[] = [];
    for (let end = digits.length; end > 0; end -= every)
      groups.unshift(digits.slice(Math.max(0, end - every), end));
    return groups.join(sign);
  }
  return separators.toReversed().reduce((text, separator) => {
    // As in JSONata, a separator beyond the first digit replaces what its distance from the end leaves out.
    const at = text.length - separator.position;
    return text.slice(0, Math.max(0, at)) + separator.sign + text.slice(at);
  }, digits);
}

function ordinalEnding(text: string): string {
  const teens = text.length > 1 && text.at(-2) === "1";
  return (!teens && { 1: "st", 2: "nd", 3: "rd" }[text.at(-1) as "1"]) || "th";
}

function toDigits(value: number, format: Digits): string {
  const digits = String(value).padStart(format.least, "0");
  const text = insertSeparators(shiftDigits(digits, format.zero - 0x30), format);
  return format.ordinal ? text + ordinalEnding(text) : text;
}

function fromDigits(text: string, { ordinal, every, separators, zero }: Digits): number {
  const bare = ordinal ? text.slice(0, -2) : text;
  const signs = every > 0 ? [","] : separators.map(({ sign }) => sign);
  const digits = signs.reduce((left, sign) => left.replaceAll(sign, ""), bare);
  return Number.parseInt(zero === 0x30 ? digits : shiftDigits(digits, 0x30 - zero), 10);
}

/** Prints an integer. @throws {Failure} D3130 If the picture is not supported. */
export function printInteger(value: number, format: IntegerFormat): string {
  return (value < 0 ? "-" : "") + printPositive(Math.abs(value), format);
}

function printPositive(value: number, picture: IntegerFormat): string {
  switch (picture.style) {
    case "letters":
      return toLetters(value, picture.upper);
    case "roman":
      return picture.upper ? toRoman(value).toUpperCase() : toRoman(value);
    case "words": {
      const words = toWords(value, picture.ordinal);
      if (picture.letters === "upper") return words.toUpperCase();
      return picture.letters === "lower" ? words.toLowerCase() : words;
    }
    case "digits":
      return toDigits(value, picture);
    default:
      throw new Failure("D3130");
  }
}

/** `$formatInteger`: prints an integer by a picture, as digits, letters, Roman numerals or words. @throws {Failure} D3130, D3131 */
export function formatInteger(value?: number, picture?: string): string | undefined {
  if (value === undefined) return undefined;
  return printInteger(Math.floor(value), parseIntegerPicture(picture as string));
}

/** Reads an integer. Returns NaN if the text is not one. @throws {Failure} D3130 If the picture is not supported. */
export function readInteger(text: string, format: IntegerFormat): number {
  switch (format.style) {
    case "letters":
      return fromLetters(text, format.upper);
    case "roman":
      return fromRoman(format.upper ? text : text.toUpperCase());
    case "words":
      return fromWords(text);
    case "digits":
      return fromDigits(text, format);
    default:
      throw new Failure("D3130");
  }
}

/** `$parseInteger`: reads an integer that is written by a picture. @throws {Failure} D3130, D3131 */
export const parseInteger = (text?: string, picture?: string): number | undefined =>
  text === undefined ? undefined : readInteger(text, parseIntegerPicture(picture as string));
