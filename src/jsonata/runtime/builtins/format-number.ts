import { Failure } from "../failure.ts";
import {
  analyzePicture,
  findPictureErrors,
  signsOf,
  parsePicture,
  type NumberFormat,
  type PictureSigns,
} from "./number-picture.ts";
import { round } from "./numbers.ts";
import { checkPicture, rememberPictures } from "./picture-cache.ts";

/** Returns the digits of a number in the script of the picture. */
function digitsOf(value: number, places: number, signs: PictureSigns): string {
  return Math.abs(value)
    .toFixed(places)
    .replaceAll(/\d/g, (digit) => signs.digits[Number(digit)] as string);
}

function trimZeros(text: string, zero: string): string {
  let [start, end] = [0, text.length];
  while (text.charAt(start) === zero) start += 1;
  while (end > start && text.charAt(end - 1) === zero) end -= 1;
  return text.slice(start, end);
}

const insertAt = (text: string, at: number, sign: string): string =>
  text.slice(0, at) + sign + text.slice(at);

/** Inserts grouping separators. `text` has a decimal separator. */
function insertGroupSeparators(text: string, format: NumberFormat, signs: PictureSigns): string {
  const [point, group] = [signs["decimal-separator"], signs["grouping-separator"]];
  const size = text.indexOf(point);
  let result = text;
  const count = format.every > 0 ? Math.floor((size - 1) / format.every) : 0;
  for (let index = 1; index <= count; index += 1)
    result = insertAt(result, size - index * format.every, group);
  if (format.every === 0)
    for (const [index, position] of format.groups.entries())
      result = insertAt(result, size + index - position, group);
  const end = result.indexOf(point) + 1;
  for (const position of format.fractionGroups) result = insertAt(result, position + end, group);
  return result;
}

/** Splits a number into a mantissa that fits the digits of the picture, and a power of ten. */
function toScientific(value: number, format: NumberFormat): readonly [number, number | undefined] {
  if (format.least.exponent === 0) return [value, undefined];
  const [least, most] = [10 ** (format.scaling - 1), 10 ** format.scaling];
  let [mantissa, exponent] = [value, 0];
  while (mantissa !== 0 && Math.abs(mantissa) < least) [mantissa, exponent] = [mantissa * 10, exponent - 1];
  while (mantissa !== 0 && Math.abs(mantissa) > most) [mantissa, exponent] = [mantissa / 10, exponent + 1];
  return [mantissa, exponent];
}

function printNumber(value: number, format: NumberFormat, signs: PictureSigns): string {
  const [zero, point] = [signs["zero-digit"], signs["decimal-separator"]];
  const factor = format.picture.includes(signs.percent)
    ? 100
    : format.picture.includes(signs["per-mille"])
      ? 1000
      : 1;
  const [mantissa, exponent] = toScientific(value * factor, format);
  const rounded = round(mantissa, format.mostFraction) as number;
  const digits = digitsOf(rounded, format.mostFraction, signs);
  const pointed = digits.includes(".") ? digits.replace(".", point) : digits + point;
  const bare = trimZeros(pointed, zero);
  const size = bare.indexOf(point);
  const padded =
    zero.repeat(Math.max(0, format.least.integer - size)) +
    bare +
    zero.repeat(Math.max(0, format.least.fraction - (bare.length - size - 1)));
  const grouped = insertGroupSeparators(padded, format, signs);
  const pointless = !format.picture.includes(point) || grouped.indexOf(point) === grouped.length - 1;
  const power =
    exponent === undefined
      ? ""
      : signs["exponent-separator"] +
        (exponent < 0 ? signs["minus-sign"] : "") +
        digitsOf(exponent, 0, signs).padStart(format.least.exponent, zero);
  return format.prefix + (pointless ? grouped.slice(0, -1) : grouped) + power + format.suffix;
}

/** The formats of positive and of negative numbers. */
interface NumberPicture {
  readonly signs: PictureSigns;
  readonly positive: NumberFormat;
  readonly negative: NumberFormat;
}

/** Parses a picture. @throws {Failure} D3080 to D3093 If it is invalid. */
function parseNumberPicture(picture: string, signs: PictureSigns): NumberPicture {
  const pictures = picture.split(signs["pattern-separator"]);
  if (pictures.length > 2) throw new Failure("D3080");
  const parts = pictures.map((part) => parsePicture(part, signs));
  for (const part of parts) {
    const code = findPictureErrors(part, signs).at(-1);
    if (code !== undefined) throw new Failure(code);
  }
  const [positive, negative] = parts.map((part) => analyzePicture(part, signs));
  // `split` gives at least one part.
  const format = positive as NumberFormat;
  return {
    signs,
    positive: format,
    negative: negative ?? { ...format, prefix: signs["minus-sign"] + format.prefix },
  };
}

const parseUsualPicture = rememberPictures((picture) => parseNumberPicture(picture, signsOf(undefined)));

function parseSpecialPicture(picture: string, options: object): NumberPicture {
  checkPicture(picture.length);
  return parseNumberPicture(picture, signsOf(options));
}

/** `$formatNumber`: prints a number by a picture. @throws {Failure} D3080 to D3093 If the picture is invalid, too_large. */
export function formatNumber(value?: number, picture = "", options?: object): string | undefined {
  if (value === undefined) return undefined;
  const { signs, positive, negative } =
    options === undefined ? parseUsualPicture(picture) : parseSpecialPicture(picture, options);
  return printNumber(value, value >= 0 ? positive : negative, signs);
}
