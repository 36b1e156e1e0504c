/** A description of a value without the value: its JSON type, and how it is written. */
import { isExactNumber, isObject } from "../../base/index.ts";
import { type FieldState, MAX_FORMATS, MIN_PAIRS } from "./volatile-state.ts";

export type JsonType = "null" | "array" | "object" | "number" | "string" | "boolean";

/** The JSON type of a value that `parseJson` gave. */
export function jsonType(value: unknown): JsonType {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "array";
  if (isObject(value)) return "object";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "number";
}

/** Whether two scalars are the same. */
export const areSame = (one: unknown, other: unknown): boolean =>
  one === other || (isExactNumber(one) && isExactNumber(other) && one.rawJSON === other.rawJSON);

/** A date with a time, or without. Longer texts are no times. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(\.\d{1,9})?)?)?(Z|[+-]\d\d:?\d\d)?$/;
const MAX_TIME = 40;

/** A time as milliseconds since the epoch; undefined for any other text. Without a zone it counts as UTC. */
export function timeOf(text: string): number | undefined {
  const match = text.length <= MAX_TIME ? TIME.exec(text) : null;
  if (!match) return undefined;
  const [, fraction = "", zone] = match;
  const written = text.replace(" ", "T").replace(/([+-]\d\d)(\d\d)$/, zone?.includes(":") ? "$&" : "$1:$2");
  const short = fraction.length > 4 ? written.replace(fraction, fraction.slice(0, 4)) : written;
  const time = Date.parse(zone === undefined && short.includes("T") ? `${short}Z` : short);
  return Number.isNaN(time) ? undefined : time;
}

/** Where a value lies: a number, or a time in milliseconds. Undefined for all other values. */
export function positionOf(value: unknown): number | undefined {
  if (isExactNumber(value)) return Number(value.rawJSON);
  if (typeof value === "number") return value;
  return typeof value === "string" ? timeOf(value) : undefined;
}

/** The digits after the point of a number. */
function decimalsOf(value: unknown): number {
  const text = isExactNumber(value) ? value.rawJSON : String(value);
  const [, fraction = "", exponent = "0"] = /^-?\d+(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

/** Whether two numbers are equal once the more exact one is rounded, up or down, to the digits of the other. */
function areRounded(one: unknown, other: unknown): boolean {
  const digits = Math.min(decimalsOf(one), decimalsOf(other));
  const [a, b] = [positionOf(one), positionOf(other)];
  if (a === undefined || b === undefined || decimalsOf(one) === decimalsOf(other)) return false;
  return Math.abs(a - b) < 10 ** -digits;
}

/** Whether two scalars that are not the same have one meaning in two formats: digits, zone, precision, letter case. */
export function isOtherFormat(old: unknown, other: unknown): boolean {
  if (typeof old !== "string" || typeof other !== "string") return areRounded(old, other);
  if (old.toLowerCase() === other.toLowerCase()) return true;
  const [time, otherTime] = [timeOf(old), timeOf(other)];
  if (time === undefined || otherTime === undefined) return false;
  return templateOf(old) !== templateOf(other) && Math.floor(time / 1000) === Math.floor(otherTime / 1000);
}

/** How a time is written: `0000-00-00T00:00:00.000Z`, with `+00:00` for all zones of that form. */
const templateOf = (text: string): string => text.replace(/[+-](\d\d:?\d\d)$/, "+$1").replaceAll(/\d/g, "0");

const MAX_PATTERN = 40;

/**
 * How a scalar is written, as a few words that do not depend on its value: of a number its digits after the point, of a
 * time its template, of other texts the letters and signs in it.
 */
export function formatsOf(value: unknown): string[] {
  if (typeof value === "boolean") return [];
  if (typeof value !== "string") return [`decimals ${Math.min(9, decimalsOf(value))}`];
  if (timeOf(value) !== undefined) return [`time ${templateOf(value)}`];
  const signs = value.slice(0, 200).replaceAll(/[\p{L}\p{N}]+/gu, "w");
  return [
    "text",
    ...(/\p{Lu}/u.test(value) ? ["upper case"] : []),
    ...(/\p{Ll}/u.test(value) ? ["lower case"] : []),
    ...(/\p{N}/u.test(value) ? ["digits"] : []),
    `signs ${signs.slice(0, MAX_PATTERN)}`,
  ];
}

/** Clocks of two services may differ by so much: no time zone is as near to another one. */
const CLOCK_SKEW_MS = 300_000;
/** A new value may be this many times as far from the old one as two old ones are. */
const MARGIN = 3;
/** With more patterns than this the next one is no surprise. */
const MAX_PATTERNS = 3;
const decimals = (format: string): number =>
  format.startsWith("decimals ") ? Number(format.slice("decimals ".length)) : -1;

/** Whether what is known of a field shows something to a client. */
type IsShown = (shows: (state: FieldState) => boolean) => boolean;

/** The knowledge of the clients of a route about one field. */
export interface KnownField {
  /** Undefined where the client itself knows nothing. */
  readonly own: FieldState | undefined;
  readonly others: readonly FieldState[];
}

/** A client believes what it has shown itself, or what at least two others have: one alone may write while it reads. */
const createIsShown =
  ({ own, others }: KnownField): IsShown =>
  (shows) =>
    (own !== undefined && shows(own)) || others.filter(shows).length >= 2;

/** Whether a value is written in a way that neither the old value beside it nor earlier ones are. */
function hasNewFormat(known: KnownField, old: unknown, other: unknown): boolean {
  const isShown = createIsShown(known);
  const all = [known.own, ...known.others].flatMap((state) => Object.keys(state?.formats ?? {}));
  const seen = [...new Set(all)].filter((format) =>
    isShown(({ formats }) => (formats[format]?.[0] ?? 0) > 0),
  );
  const beside = formatsOf(old);
  const patterns = seen.filter((format) => format.startsWith("signs ")).length;
  const isFull = isShown(({ formats }) => Object.keys(formats).length >= MAX_FORMATS);
  const mostDecimals = Math.max(-1, ...seen.map(decimals), ...beside.map(decimals));
  const isSurprising = (format: string): boolean => {
    if (beside.includes(format) || seen.includes(format) || isFull) return false;
    if (decimals(format) >= 0) return decimals(format) > mostDecimals;
    return !format.startsWith("signs ") || patterns <= MAX_PATTERNS;
  };
  return formatsOf(other).some(isSurprising);
}

/** Whether most old values are written in a way that none of many new ones is. */
const lacksFormat = ({ formats, values }: FieldState): boolean =>
  values[1] >= MIN_PAIRS && Object.values(formats).some(([old, other]) => other === 0 && old * 2 > values[0]);

/** The distance of two numbers, or of two times in milliseconds; undefined for other values. */
export function distanceOf(one: unknown, other: unknown): number | undefined {
  const distance = Math.abs((positionOf(one) ?? Number.NaN) - (positionOf(other) ?? Number.NaN));
  return Number.isFinite(distance) ? distance : undefined;
}

/** Whether a new value is farther from the old one than old ones are from each other, and than clocks are. */
function isOutOfRange(known: KnownField, old: unknown, other: unknown): boolean {
  const isShown = createIsShown(known);
  const distance = distanceOf(old, other);
  if (distance === undefined || !isShown(({ spread }) => spread !== undefined)) return false;
  const skew = typeof old === "string" ? CLOCK_SKEW_MS : 0;
  return !isShown(({ spread = -1 }) => spread >= 0 && distance <= Math.max(MARGIN * spread, skew));
}

/**
 * How an old value and another one of a volatile field differ; null where the other one is what the field may be.
 *
 * @param isOld Whether the other value is one of the old service, too.
 */
export function judgeVolatile(
  known: KnownField,
  old: unknown,
  other: unknown,
  isOld: boolean,
): "format" | "value" | null {
  if (hasNewFormat(known, old, other)) return "format";
  if (!isOld && createIsShown(known)(lacksFormat)) return "format";
  return isOutOfRange(known, old, other) ? "value" : null;
}
