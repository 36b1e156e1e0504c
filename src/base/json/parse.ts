/**
 * Parses and prints JSON without loss: key order is kept, a `__proto__` member is a plain member, and numbers that a
 * double can't hold keep their digits.
 *
 * Own code around `JSON.parse` for speed: one cheap pass over the string finds excessive nesting and long numbers, so
 * that the reviver, which is several times slower, only runs for texts that need it.
 */
import {
  MAX_DEPTH,
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isDigit,
  letterE,
  lowerCase,
  openBrace,
  openBracket,
  point,
  quote,
} from "./characters.ts";

/** A number with its original digits. It prints as that number and can't be used in arithmetic. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** ECMAScript's proposal-json-parse-with-source. The runtime supports it, but TypeScript's library does not declare it. */
interface JsonWithSource {
  readonly parse: (text: string, reviver: Reviver) => unknown;
  readonly rawJSON: (text: string) => ExactNumber;
  readonly isRawJSON: (value: unknown) => value is ExactNumber;
}
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const { parse, rawJSON, isRawJSON } = JSON as unknown as JsonWithSource;

/**
 * Parses JSON. Numbers that a double can't hold become {@link ExactNumber}.
 *
 * @param options.maxDepth Maximum nesting of arrays and objects. Default: 100. Checked before parsing.
 * @param options.maxValues Maximum number of values, members and items. A number that a double may not hold counts as
 *   ten, because of its cost. Checked before parsing. Default: no limit.
 * @param options.maxNameLength Maximum number of characters of a member name, escapes included. Checked before parsing.
 *   Default: no limit.
 * @param options.hasUniqueNames Rejects an object with a duplicate member, because only the last one would be read.
 * @throws {SyntaxError} If the text is not JSON.
 * @throws {RangeError} If it is nested deeper, has more values, has longer names, or a name twice. No message contains
 *   any of the text, which may be a secret.
 */
export function parseJson(
  text: string,
  {
    maxDepth = MAX_DEPTH,
    maxValues = Infinity,
    maxNameLength = Infinity,
    hasUniqueNames = false,
  }: { maxDepth?: number; maxValues?: number; maxNameLength?: number; hasUniqueNames?: boolean } = {},
): unknown {
  const { hasLongNumbers, names } = surveyText(text, maxDepth, maxValues, maxNameLength);
  const value = parseSurveyed(text, hasLongNumbers);
  if (hasUniqueNames && countMembers(value) !== names) throw new RangeError("JSON with a member twice");
  return value;
}

function parseSurveyed(text: string, hasLongNumbers: boolean): unknown {
  try {
    // The reviver is several times slower.
    return hasLongNumbers ? parse(text, keepDigits) : JSON.parse(text);
  } catch {
    throw new SyntaxError("not JSON");
  }
}

/** Counts the members of a value and of all values that it contains. */
function countMembers(value: unknown): number {
  if (typeof value !== "object" || value === null || isExactNumber(value)) return 0;
  let count = 0;
  if (Array.isArray(value)) for (const item of value) count += countMembers(item);
  else for (const name in value) count += 1 + countMembers(Reflect.get(value, name));
  return count;
}

/** Prints a value as JSON. Values that JSON can't express (`undefined`, a function) become `null`. */
export function printJson(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** Whether a value from {@link parseJson} is a number that a double can't hold. Copy such a value unchanged. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return isRawJSON(value);
}

/** Whether a value from {@link parseJson} is an object: not an array, not null, and not an {@link ExactNumber}. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);

/**
 * Sets a member of any name. Assigning to `__proto__` would set the prototype, so that name is defined instead. Defining
 * is many times slower than assigning.
 */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== "__proto__") object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

const INTEGER = /^-?\d+$/;

const keepDigits: Reviver = (_key, value, { source }) => {
  if (typeof value !== "number" || source === undefined) return value;
  const text = String(value);
  if (text === source) return value;
  // Two integers without an exponent are different if their digits are: no need to normalize thousands of ids.
  if (value !== 0 && INTEGER.test(text) && INTEGER.test(source)) return rawJSON(source);
  return normalizeNumber(text) === normalizeNumber(source) ? value : rawJSON(source);
};

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Parses a text as a JSON number, with all its digits; undefined for any other text. */
export const parseNumber = (text: string): number | ExactNumber | undefined =>
  NUMBER.test(text) ? (parseJson(text) as number | ExactNumber) : undefined;

/** Compares two numbers by all their digits: negative, 0 or positive. */
export function compareNumbers(a: number | ExactNumber, b: number | ExactNumber): number {
  const [one, two] = [digitsOf(a), digitsOf(b)];
  // Rounding keeps the order: the digits are only compared if both numbers round to the same double.
  if (Number(one) !== Number(two)) return Number(one) < Number(two) ? -1 : 1;
  if (one === two) return 0;
  const [x, y] = [scientific(one), scientific(two)];
  const difference = x.power - y.power || Number(x.digits > y.digits) - Number(x.digits < y.digits);
  return x.sign - y.sign || x.sign * difference;
}

const digitsOf = (value: number | ExactNumber): string =>
  typeof value === "number" ? String(value) : value.rawJSON;

/** Converts a number to its sign, times 0.`digits`, times ten to the power of `power`. Zero has no digits. */
function scientific(text: string): { sign: number; digits: string; power: number } {
  const [, minus, digits = "", exponent] = /^(-?)(\d+)e(.+)$/.exec(normalizeNumber(text)) ?? [];
  return { sign: digits === "" ? 0 : minus ? -1 : 1, digits, power: Number(exponent) + digits.length };
}

/** Normalizes the spelling of a number: `1.50`, `15e-1` and `0.15E1` are all `15e-1`. */
function normalizeNumber(text: string): string {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === "0") first += 1;
  if (first === digits.length) return "0";
  let end = digits.length;
  // A loop, because /0+$/ takes quadratic time over "000…01".
  while (digits[end - 1] === "0") end -= 1;
  return `${sign}${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

/** The findings of one pass before parsing. Meaningless for a text that is not JSON. */
interface TextSurvey {
  /** Whether a double may be unable to hold some number. */
  readonly hasLongNumbers: boolean;
  /** The number of member names: a colon outside of strings follows each name. */
  readonly names: number;
}

/** The cost, in values, of a number that a double may not hold: the reviver compares its digits. */
const LONG_NUMBER_VALUES = 10;

/** @throws {RangeError} If the text is nested deeper, has more values, or has longer names. */
function surveyText(text: string, maxDepth: number, maxValues: number, maxNameLength: number): TextSurvey {
  let depth = 0;
  // A value follows each comma, and may follow each opening bracket.
  let values = 1;
  let names = 0;
  let [hasLongName, hasLongNumbers] = [false, false];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = closingQuote(text, at);
      hasLongName ||= end - at - 1 > maxNameLength && isName(text, end);
      at = end;
    } else if (code === openBracket || code === openBrace) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) throw new RangeError(`JSON nested deeper than ${maxDepth} levels`);
    } else if (code === comma) values += 1;
    else if (code === colon) names += 1;
    else if (code === closeBracket || code === closeBrace) depth -= 1;
    else if (isDigit(code)) {
      const start = at;
      while (isDigitOrPoint(text.charCodeAt(at + 1))) at += 1;
      // A double holds 15 digits exactly, unless an exponent takes it out of range.
      if (at - start >= 15 || (text.charCodeAt(at + 1) | lowerCase) === letterE) {
        hasLongNumbers = true;
        values += LONG_NUMBER_VALUES - 1;
      }
    }
  }
  if (values > maxValues) throw new RangeError(`JSON of more than ${maxValues} values`);
  if (hasLongName) throw new RangeError(`name of more than ${maxNameLength} characters`);
  return { hasLongNumbers, names };
}

/** Whether the string that ends at `end` is a member name: a colon follows it. */
function isName(text: string, end: number): boolean {
  let next = end + 1;
  while (isBlank(text.charCodeAt(next))) next += 1;
  return text.charCodeAt(next) === colon;
}

/** White space between the tokens of JSON. */
const isBlank = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);

function isDigitOrPoint(code: number): boolean {
  return isDigit(code) || code === point;
}

/** The index of the closing quote of the string that starts at `start`, or the end of the text. */
function closingQuote(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
  } while (isEscaped(text, end));
  return end;
}

function isEscaped(text: string, at: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1;
  return backslashes % 2 === 1;
}
