/** Descriptions of the values of a field that differs from itself: their formats, and how far apart they are. */
import { formatsOf, positionOf } from "./value-format.ts";
import { MAX_FORMATS, MIN_PAIRS, type FieldState } from "./volatile-state.ts";

/** Clocks of two services may differ by this much. No time zone is as close to another one. */
const CLOCK_SKEW_MS = 300_000;
/** A new value may be this many times as far from the old one as two old values are. */
const MARGIN = 3;
/** With more patterns than this, a further one is not surprising. */
const MAX_PATTERNS = 3;
const decimals = (format: string): number =>
  format.startsWith("decimals ") ? Number(format.slice("decimals ".length)) : -1;

/** Whether the knowledge about a field shows something to a client. */
type IsShown = (shows: (state: FieldState) => boolean) => boolean;

/** The knowledge of the clients of a route about one field. */
export interface KnownField {
  /** Undefined if the client itself has no evidence. */
  readonly own: FieldState | undefined;
  readonly others: readonly FieldState[];
}

/**
 * A client believes its own evidence, or evidence of at least two others, because a single one may write while it
 * reads.
 */
const createIsShown =
  ({ own, others }: KnownField): IsShown =>
  (shows) =>
    (own !== undefined && shows(own)) || others.filter(shows).length >= 2;

/** Whether a value has a format that neither the old value beside it nor earlier ones have. */
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

/** Whether most old values have a format that none of many new values has. */
const lacksFormat = ({ formats, values }: FieldState): boolean =>
  values[1] >= MIN_PAIRS && Object.values(formats).some(([old, other]) => other === 0 && old * 2 > values[0]);

/** The distance of two numbers, or of two times in milliseconds; undefined for other values. */
export function distanceOf(one: unknown, other: unknown): number | undefined {
  const distance = Math.abs((positionOf(one) ?? Number.NaN) - (positionOf(other) ?? Number.NaN));
  return Number.isFinite(distance) ? distance : undefined;
}

/** Whether a new value is farther from the old one than old values are from each other, and than clocks differ. */
function isOutOfRange(known: KnownField, old: unknown, other: unknown): boolean {
  const isShown = createIsShown(known);
  const distance = distanceOf(old, other);
  if (distance === undefined || !isShown(({ spread }) => spread !== undefined)) return false;
  const skew = typeof old === "string" ? CLOCK_SKEW_MS : 0;
  return !isShown(({ spread = -1 }) => spread >= 0 && distance <= Math.max(MARGIN * spread, skew));
}

/**
 * How an old value and another one of a volatile field differ. Null if the other value is a possible value of the
 * field.
 *
 * @param isOld Whether the other value is also from the old service.
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
