/**
 * JSON in and out without loss: key order is kept, a `__proto__` member is a member like any other, and
 * numbers that a double can't hold keep their digits.
 */

/** A number kept as it was written. It prints as that number, and nothing can be computed with it. */
export interface ExactNumber {
  readonly rawJSON: string;
}

/** ECMAScript's proposal-json-parse-with-source, which the runtime has and TypeScript's library lacks. */
interface JsonWithSource {
  readonly parse: (text: string, reviver: Reviver) => unknown;
  readonly rawJSON: (text: string) => ExactNumber;
  readonly isRawJSON: (value: unknown) => value is ExactNumber;
}
type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
const { parse, rawJSON, isRawJSON } = JSON as unknown as JsonWithSource;

/** Far above what either dialect nests, far below what recursion over the result could not bear. */
const defaultDepth = 100;

/**
 * Reads JSON. Numbers beyond a double's exactness come back as {@link ExactNumber}.
 *
 * @param options.maxDepth arrays and objects inside each other, 100 by default; checked before anything is built.
 * @param options.maxValues values in all, members and items; checked likewise. Default: any number.
 * @throws {SyntaxError} when the text is not JSON, {RangeError} when it is nested deeper, or has more values. No
 *   message holds any of the text, which may be a secret.
 */
export function parseJson(
  text: string,
  { maxDepth = defaultDepth, maxValues = Infinity }: { maxDepth?: number; maxValues?: number } = {},
): unknown {
  const { deeper, more, longNumbers } = survey(text, maxDepth, maxValues);
  if (deeper) throw new RangeError(`JSON nested deeper than ${maxDepth} levels`);
  if (more) throw new RangeError(`JSON of more than ${maxValues} values`);
  try {
    // The reviver is several times slower.
    return longNumbers ? parse(text, keepDigits) : JSON.parse(text);
  } catch {
    throw new SyntaxError("not JSON");
  }
}

/** Writes JSON; what JSON has no word for (`undefined`, a function) is `null`. */
export function printJson(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** Whether a value that {@link parseJson} gave is a number that no double holds. Don't take it apart: copy it as it is. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return isRawJSON(value);
}

/** Whether a value that {@link parseJson} gave is an object: no array, no null, and no number that is kept as one. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isExactNumber(value);

const keepDigits: Reviver = (_key, value, { source }) => {
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  return decimal(String(value)) === decimal(source) ? value : rawJSON(source);
};

/** One spelling for all spellings of a number: `1.50`, `15e-1` and `0.15E1` are all `15e-1`. */
function decimal(text: string): string {
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

/** What one pass over the text tells before it is read. Of a text that is no JSON it tells nothing. */
interface Survey {
  /** Arrays and objects stand deeper inside each other than allowed. */
  readonly deeper: boolean;
  /** It has more values than allowed. */
  readonly more: boolean;
  /** Some number may be one that a double can't hold. */
  readonly longNumbers: boolean;
}

function survey(text: string, maxDepth: number, maxValues: number): Survey {
  let depth = 0;
  // Each comma stands before a value, and each bracket may.
  let values = 1;
  let longNumbers = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === openBracket || code === openBrace) {
      depth += 1;
      values += 1;
      if (depth > maxDepth) return { deeper: true, more: false, longNumbers };
    } else if (code === comma) values += 1;
    else if (code === closeBracket || code === closeBrace) depth -= 1;
    else if (code >= zero && code <= nine) {
      const start = at;
      while (isDigitOrPoint(text.charCodeAt(at + 1))) at += 1;
      // A double holds 15 digits exactly, unless an exponent takes it out of range.
      if (at - start >= 15 || (text.charCodeAt(at + 1) | lowerCase) === letterE) longNumbers = true;
    }
  }
  return { deeper: false, more: values > maxValues, longNumbers };
}

const quote = 0x22;
const comma = 0x2c;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterE = 0x65;
const lowerCase = 0x20;
const openBrace = 0x7b;
const closeBrace = 0x7d;

function isDigitOrPoint(code: number): boolean {
  return (code >= zero && code <= nine) || code === point;
}

/** The index of the quote that ends the string begun at `start`, or the end of the text. */
function endOfString(text: string, start: number): number {
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
