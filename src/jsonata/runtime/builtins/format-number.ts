import { Failure } from "../failure.ts";
import { analyse, mistakes, signsOf, takeApart, type Format, type Signs } from "./number-picture.ts";
import { round } from "./numbers.ts";

/** `$formatNumber`: numbers by a picture. */

/** Digits of the picture's family, with its decimal separator, no zeros at either end. */
function digitsOf(value: number, places: number, signs: Signs): string {
  return Math.abs(value)
    .toFixed(places)
    .replaceAll(/\d/g, (digit) => signs.digits[Number(digit)] as string);
}

function stripped(text: string, zero: string): string {
  let [start, end] = [0, text.length];
  while (text.charAt(start) === zero) start += 1;
  while (end > start && text.charAt(end - 1) === zero) end -= 1;
  return text.slice(start, end);
}

const inserted = (text: string, at: number, sign: string): string =>
  text.slice(0, at) + sign + text.slice(at);

/** Puts grouping separators into digits; `text` has its decimal separator. */
function groupedDigits(text: string, format: Format, signs: Signs): string {
  const [point, group] = [signs["decimal-separator"], signs["grouping-separator"]];
  const size = text.indexOf(point);
  let result = text;
  const count = format.every > 0 ? Math.floor((size - 1) / format.every) : 0;
  for (let index = 1; index <= count; index += 1)
    result = inserted(result, size - index * format.every, group);
  if (format.every === 0)
    for (const [index, place] of format.groups.entries())
      result = inserted(result, size + index - place, group);
  const end = result.indexOf(point) + 1;
  for (const place of format.fractionGroups) result = inserted(result, place + end, group);
  return result;
}

/** A number as a mantissa within the picture's digits and a power of ten. */
function scientific(value: number, format: Format): readonly [number, number | undefined] {
  if (format.least.exponent === 0) return [value, undefined];
  const [least, most] = [10 ** (format.scaling - 1), 10 ** format.scaling];
  let [mantissa, exponent] = [value, 0];
  while (mantissa !== 0 && Math.abs(mantissa) < least) [mantissa, exponent] = [mantissa * 10, exponent - 1];
  while (mantissa !== 0 && Math.abs(mantissa) > most) [mantissa, exponent] = [mantissa / 10, exponent + 1];
  return [mantissa, exponent];
}

function print(value: number, format: Format, signs: Signs): string {
  const [zero, point] = [signs["zero-digit"], signs["decimal-separator"]];
  const factor = format.picture.includes(signs.percent)
    ? 100
    : format.picture.includes(signs["per-mille"])
      ? 1000
      : 1;
  const [mantissa, exponent] = scientific(value * factor, format);
  const rounded = round(mantissa, format.mostFraction) as number;
  const digits = digitsOf(rounded, format.mostFraction, signs);
  const pointed = digits.includes(".") ? digits.replace(".", point) : digits + point;
  const bare = stripped(pointed, zero);
  const size = bare.indexOf(point);
  const padded =
    zero.repeat(Math.max(0, format.least.integer - size)) +
    bare +
    zero.repeat(Math.max(0, format.least.fraction - (bare.length - size - 1)));
  const grouped = groupedDigits(padded, format, signs);
  const pointless = !format.picture.includes(point) || grouped.indexOf(point) === grouped.length - 1;
  const power =
    exponent === undefined
      ? ""
      : signs["exponent-separator"] +
        (exponent < 0 ? signs["minus-sign"] : "") +
        digitsOf(exponent, 0, signs).padStart(format.least.exponent, zero);
  return format.prefix + (pointless ? grouped.slice(0, -1) : grouped) + power + format.suffix;
}

export function formatNumber(value?: number, picture?: string, options?: object): string | undefined {
  if (value === undefined) return undefined;
  const signs = signsOf(options);
  const pictures = (picture as string).split(signs["pattern-separator"]);
  if (pictures.length > 2) throw new Failure("D3080");
  const parts = pictures.map((part) => takeApart(part, signs));
  for (const part of parts) {
    const code = mistakes(part, signs).at(-1);
    if (code !== undefined) throw new Failure(code);
  }
  const [positive, negative] = parts.map((part) => analyse(part, signs));
  if (value >= 0 || !positive) return print(value, positive as Format, signs);
  return print(value, negative ?? { ...positive, prefix: signs["minus-sign"] + positive.prefix }, signs);
}
