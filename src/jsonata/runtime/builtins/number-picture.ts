/** Default symbols of `$formatNumber` (XPath Functions and Operators 3.1, section 4.7, as far as JSONata implements it). */
const SYMBOLS = {
  "decimal-separator": ".",
  "grouping-separator": ",",
  "exponent-separator": "e",
  "minus-sign": "-",
  percent: "%",
  "per-mille": "\u2030",
  "zero-digit": "0",
  digit: "#",
  "pattern-separator": ";",
};
type Symbols = typeof SYMBOLS;

/** The symbols of a picture, its digits, and all characters with a meaning. */
export interface PictureSigns extends Symbols {
  readonly digits: readonly string[];
  readonly active: ReadonlySet<string>;
}

/** Returns the symbols of a picture: the defaults, overridden by the options of the call. */
export function signsOf(options: object | undefined): PictureSigns {
  const symbols: Symbols = { ...SYMBOLS, ...options };
  const zero = symbols["zero-digit"].charCodeAt(0);
  const digits = Array.from({ length: 10 }, (_, value) => String.fromCharCode(zero + value));
  const separators = [
    symbols["decimal-separator"],
    symbols["exponent-separator"],
    symbols["grouping-separator"],
    symbols["pattern-separator"],
  ];
  return { ...symbols, digits, active: new Set([...digits, ...separators, symbols.digit]) };
}

/** The parts of a picture for positive or negative numbers. */
interface PictureParts {
  readonly picture: string;
  readonly prefix: string;
  readonly suffix: string;
  readonly active: string;
  readonly mantissa: string;
  readonly exponent: string | undefined;
  readonly integer: string;
  readonly fraction: string;
}

/** Splits a picture into its parts. */
export function parsePicture(picture: string, signs: PictureSigns): PictureParts {
  const characters = picture.split("");
  const starts = (sign: string) => signs.active.has(sign) && sign !== signs["exponent-separator"];
  const first = characters.findIndex(starts);
  const last = characters.findLastIndex(starts);
  const prefix = first === -1 ? "" : picture.slice(0, first);
  const suffix = last === -1 ? "" : picture.slice(last + 1);
  const active = picture.substring(prefix.length, picture.length - suffix.length);
  // As in JSONata, an index into the whole picture is applied to the active part.
  const at = picture.indexOf(signs["exponent-separator"], prefix.length);
  const plain = at === -1 || at > picture.length - suffix.length;
  const mantissa = plain ? active : active.slice(0, at);
  const exponent = plain ? undefined : active.slice(at + 1);
  const point = mantissa.indexOf(signs["decimal-separator"]);
  const integer = point === -1 ? mantissa : mantissa.slice(0, point);
  const fraction = point === -1 ? suffix : mantissa.slice(point + 1);
  return { picture, prefix, suffix, active, mantissa, exponent, integer, fraction };
}

const repeats = (text: string, sign: string): boolean => text.indexOf(sign) !== text.lastIndexOf(sign);

/** Returns the codes of all errors of a picture. JSONata reports the last one. */
export function findPictureErrors(parts: PictureParts, signs: PictureSigns): string[] {
  const { picture, mantissa, active, integer, fraction, exponent } = parts;
  const isDigit = (sign: string) => signs.digits.includes(sign);
  const point = picture.indexOf(signs["decimal-separator"]);
  const group = signs["grouping-separator"];
  const scaled = picture.includes(signs.percent) || picture.includes(signs["per-mille"]);
  const optional = integer.indexOf(signs.digit);
  const lastOptional = fraction.lastIndexOf(signs.digit);
  const checks: readonly (readonly [string, boolean])[] = [
    ["D3081", repeats(picture, signs["decimal-separator"])],
    ["D3082", repeats(picture, signs.percent)],
    ["D3083", repeats(picture, signs["per-mille"])],
    ["D3084", picture.includes(signs.percent) && picture.includes(signs["per-mille"])],
    ["D3085", !mantissa.split("").some((sign) => isDigit(sign) || sign === signs.digit)],
    ["D3086", active.split("").some((sign) => !signs.active.has(sign))],
    ["D3087", point !== -1 && [picture.charAt(point - 1), picture.charAt(point + 1)].includes(group)],
    ["D3088", point === -1 && integer.at(-1) === group],
    ["D3089", picture.includes(group + group)],
    ["D3090", optional !== -1 && integer.slice(0, optional).split("").some(isDigit)],
    ["D3091", lastOptional !== -1 && fraction.slice(lastOptional).split("").some(isDigit)],
    ["D3092", exponent !== undefined && exponent !== "" && scaled],
    ["D3093", exponent !== undefined && (exponent === "" || !exponent.split("").every(isDigit))],
  ];
  return checks.filter(([, wrong]) => wrong).map(([code]) => code);
}

/** The number format that a picture describes. */
export interface NumberFormat extends PictureParts {
  /** Number of digits to the right of each grouping separator; in the fraction, to its left. */
  readonly groups: readonly number[];
  readonly fractionGroups: readonly number[];
  /** The size of the groups if it is regular, else 0. */
  readonly every: number;
  readonly scaling: number;
  readonly least: { readonly integer: number; readonly fraction: number; readonly exponent: number };
  readonly mostFraction: number;
}

/** Derives the number format from a valid picture. */
export function analyzePicture(parts: PictureParts, signs: PictureSigns): NumberFormat {
  const { integer, fraction, exponent } = parts;
  const isDigit = (sign: string) => signs.digits.includes(sign);
  const counted = (text: string) =>
    text.split("").filter((sign) => isDigit(sign) || sign === signs.digit).length;
  const mandatory = (text: string) => text.split("").filter(isDigit).length;
  // As in JSONata, all separators of the fraction but the first are searched in the integer part.
  const groupsOf = (part: string, before: boolean): number[] => {
    const found: number[] = [];
    let at = part.indexOf(signs["grouping-separator"]);
    while (at !== -1) {
      found.push(counted(before ? part.slice(0, at) : part.slice(at)));
      at = integer.indexOf(signs["grouping-separator"], at + 1);
    }
    return found;
  };
  const scaling = mandatory(integer);
  let least = { integer: scaling, fraction: mandatory(fraction), exponent: mandatory(exponent ?? "") };
  let mostFraction = counted(fraction);
  if (least.integer === 0 && mostFraction === 0) {
    least = exponent === undefined ? { ...least, integer: 1 } : { ...least, fraction: 1 };
    if (exponent !== undefined) mostFraction = 1;
  }
  if (exponent !== undefined && least.integer === 0 && integer.includes(signs.digit))
    least = { ...least, integer: 1 };
  if (least.integer === 0 && least.fraction === 0) least = { ...least, fraction: 1 };
  const groups = groupsOf(integer, false);
  const fractionGroups = groupsOf(fraction, true);
  return { ...parts, groups, fractionGroups, every: regularDistance(groups), scaling, least, mostFraction };
}

/** Returns the distance of separators if their positions are all its multiples, none left out; else 0. */
export function regularDistance(positions: readonly number[]): number {
  const divisor = (one: number, other: number): number => (other === 0 ? one : divisor(other, one % other));
  if (positions.length === 0) return 0;
  const distance = positions.reduce((one, other) => divisor(one, other));
  return positions.every((_, index) => positions.includes((index + 1) * distance)) ? distance : 0;
}
