import { Failure } from "../failure.ts";

// Number functions. Their signatures have been checked; undefined remains undefined.

const DECIMAL = /^-?[0-9]+(\.[0-9]+)?([Ee][-+]?[0-9]+)?$/;

/** JSONata's pattern, including its mistake: only the first alternative is anchored at the start, the last at the end. */
const OTHER_RADIX = /^(0[xX][0-9A-Fa-f]+)|(0[oO][0-7]+)|(0[bB][0-1]+)$/;

/** `$number`. @throws {Failure} D3030 If the value can't be read as a number. */
export function number(value: unknown): number | undefined {
  if (value === undefined || typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string") {
    const parsed = Number(value);
    if (DECIMAL.test(value) && Number.isFinite(parsed)) return parsed;
    if (OTHER_RADIX.test(value)) return parsed;
  }
  throw new Failure("D3030");
}

/** `$floor`. */
export const floor = (value?: number): number | undefined =>
  value === undefined ? undefined : Math.floor(value);

/** Moves the decimal point in the text of a number. That is exact, unlike a multiplication. */
function shiftDecimalPoint(value: number, places: number): number {
  const [digits, exponent = "0"] = String(value).split("e");
  return Number(`${digits}e${Number(exponent) + places}`);
}

/** `$round`: rounds halves to even. @param precision Number of decimal places; negative: number of zeros. */
export function round(value?: number, precision?: number): number | undefined {
  if (value === undefined) return undefined;
  const scaled = precision ? shiftDecimalPoint(value, precision) : value;
  let whole = Math.round(scaled);
  if (Math.abs(whole - scaled) === 0.5 && Math.abs(whole % 2) === 1) whole -= 1;
  const result = precision ? shiftDecimalPoint(whole, -precision) : whole;
  return Object.is(result, -0) ? 0 : result;
}

/** `$count`. */
export const count = (values?: readonly unknown[]): number => values?.length ?? 0;
