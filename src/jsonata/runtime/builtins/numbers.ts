import { Failure } from "../failure.ts";

/** Built-in functions on numbers. Their arguments have been checked; what is missing stays missing. */

type OnNumbers = (values?: readonly number[]) => number | undefined;

const DECIMAL = /^-?[0-9]+(\.[0-9]+)?([Ee][-+]?[0-9]+)?$/;

/** JSONata's own pattern, loose ends included: only its first alternative is anchored in front, its last behind. */
const OTHER_RADIX = /^(0[xX][0-9A-Fa-f]+)|(0[oO][0-7]+)|(0[bB][0-1]+)$/;

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

export const abs = (value?: number): number | undefined =>
  value === undefined ? undefined : Math.abs(value);

export const floor = (value?: number): number | undefined =>
  value === undefined ? undefined : Math.floor(value);

export const ceil = (value?: number): number | undefined =>
  value === undefined ? undefined : Math.ceil(value);

/** Moves the decimal point in the text of a number, which is exact where a multiplication is not. */
function shifted(value: number, places: number): number {
  const [digits, exponent = "0"] = String(value).split("e");
  return Number(`${digits}e${Number(exponent) + places}`);
}

/** Rounds halves to the even neighbour; `precision` counts decimal places, or zeros when negative. */
export function round(value?: number, precision?: number): number | undefined {
  if (value === undefined) return undefined;
  const scaled = precision ? shifted(value, precision) : value;
  let whole = Math.round(scaled);
  if (Math.abs(whole - scaled) === 0.5 && Math.abs(whole % 2) === 1) whole -= 1;
  const result = precision ? shifted(whole, -precision) : whole;
  return Object.is(result, -0) ? 0 : result;
}

export function sqrt(value?: number): number | undefined {
  if (value === undefined) return undefined;
  if (value < 0) throw new Failure("D3060");
  return Math.sqrt(value);
}

export function power(base?: number, exponent?: number): number | undefined {
  if (base === undefined) return undefined;
  const result = base ** (exponent as number);
  if (!Number.isFinite(result)) throw new Failure("D3061");
  return result;
}

export const sum: OnNumbers = (values) => values?.reduce((total, value) => total + value, 0);

export const count = (values?: readonly unknown[]): number => values?.length ?? 0;

export const max: OnNumbers = (values) => (values?.length ? Math.max(...values) : undefined);

export const min: OnNumbers = (values) => (values?.length ? Math.min(...values) : undefined);

export const average: OnNumbers = (values) =>
  values?.length ? (sum(values) as number) / values.length : undefined;

export function formatBase(value?: number, radix?: number): string | undefined {
  if (value === undefined) return undefined;
  const base = radix === undefined ? 10 : (round(radix) as number);
  if (base < 2 || base > 36) throw new Failure("D3100");
  return (round(value) as number).toString(base);
}
