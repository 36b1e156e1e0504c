/** Knowledge about the values of one field of the old service, which decides whether other values are possible. */
import { z } from "zod";
import { distanceOf, formatsOf } from "./value-format.ts";

const count = z.number().nonnegative();

/** The number of values of the old and of the new service. */
const counts = z.tuple([count, count]);

/** The pairs of a client for one field and kind of difference. */
export const fieldState = z.object({
  /** Number of pairs in which the two responses of the old service differed. */
  differing: count.default(0),
  /** Number of differences from the new response that were found again, and that were not. */
  found: count.default(0),
  missed: count.default(0),
  /** The largest distance of two values of a pair: of numbers, or of times in milliseconds. */
  spread: count.optional(),
  /** Number of values whose formats were counted. */
  values: counts.default([0, 0]),
  /** Number of values with each format: see {@link formatsOf}. */
  formats: z.record(z.string(), counts).default({}),
});

export type FieldState = z.infer<typeof fieldState>;

/** The knowledge of the clients of a route about one field. */
export interface KnownField {
  /** The client's own evidence. Undefined if missing. */
  readonly own: FieldState | undefined;
  readonly others: readonly FieldState[];
}

/** Number of new values after which a format that none of them has is treated as missing. */
const MIN_VALUES = 50;
/** Maximum number of formats of a field. */
const MAX_FORMATS = 12;
/** If a field has more punctuation patterns than this, a new pattern is not a difference. */
const MAX_PATTERNS = 3;
/** Milliseconds by which the clocks of two services may differ. The difference between two time zones is always larger. */
const CLOCK_SKEW_MS = 300_000;
/** A new value may be this many times as far from the old value as two old values are from each other. */
const MARGIN = 3;

/** Counts the formats of a value. @param side 0: the old service, 1: the new one */
export function countFormats(state: FieldState, side: 0 | 1, value: unknown): void {
  state.values[side] += 1;
  for (const format of formatsOf(value)) {
    const known = state.formats[format];
    if (known) known[side] += 1;
    else if (Object.keys(state.formats).length < MAX_FORMATS)
      state.formats[format] = side === 0 ? [1, 0] : [0, 1];
  }
}

/** Counts two values of the old service that are not the same. */
export function countPair(state: FieldState, [one, other]: readonly [unknown, unknown]): void {
  countFormats(state, 0, one);
  countFormats(state, 0, other);
  const distance = distanceOf(one, other);
  if (distance !== undefined) state.spread = Math.max(state.spread ?? 0, distance);
}

/** Halves a counter. */
export const half = (counter: number): number => Math.floor(counter / 2);

/** Halves all counters, so that they follow changes of the service. */
export function halve(state: FieldState): void {
  state.differing = half(state.differing);
  state.found = half(state.found);
  state.missed = half(state.missed);
  for (const sides of [state.values, ...Object.values(state.formats)])
    sides.splice(0, 2, half(sides[0]), half(sides[1]));
}

/**
 * Whether the knowledge about a field shows something for a client. Either its own evidence is sufficient, or the
 * evidence of at least two other clients, because a single client may write while it reads.
 */
const isShown = ({ own, others }: KnownField, shows: (state: FieldState) => boolean): boolean =>
  (own !== undefined && shows(own)) || others.filter(shows).length >= 2;

/** Returns the number of digits after the decimal point in a format; -1 for texts. */
const decimalsOf = (format: string): number => Number(/^decimals (\d+)$/.exec(format)?.[1] ?? -1);

/** Whether a value has a format that neither the corresponding old value nor earlier values have. */
function hasNewFormat(known: KnownField, old: unknown, other: unknown): boolean {
  const all = [known.own, ...known.others].flatMap((state) => Object.keys(state?.formats ?? {}));
  const seen = [...new Set(all)].filter((format) =>
    isShown(known, ({ formats }) => (formats[format]?.[0] ?? 0) > 0),
  );
  if (isShown(known, ({ formats }) => Object.keys(formats).length >= MAX_FORMATS)) return false;
  const usual = new Set([...seen, ...formatsOf(old)]);
  const patterns = seen.filter((format) => format.startsWith("signs ")).length;
  const mostDecimals = Math.max(...[...usual].map(decimalsOf));
  const isSurprising = (format: string): boolean => {
    if (usual.has(format)) return false;
    if (decimalsOf(format) >= 0) return decimalsOf(format) > mostDecimals;
    return !format.startsWith("signs ") || patterns <= MAX_PATTERNS;
  };
  return formatsOf(other).some(isSurprising);
}

/** Whether most old values have a format that none of many new values has. */
const lacksFormat = ({ formats, values }: FieldState): boolean =>
  values[1] >= MIN_VALUES &&
  Object.values(formats).some(([old, other]) => other === 0 && old * 2 > values[0]);

/** Whether a new value is farther from the old one than old values are from each other, and than clocks differ. */
function isOutOfRange(known: KnownField, old: unknown, other: unknown): boolean {
  const distance = distanceOf(old, other);
  if (distance === undefined || !isShown(known, ({ spread }) => spread !== undefined)) return false;
  const skew = typeof old === "string" ? CLOCK_SKEW_MS : 0;
  return !isShown(known, ({ spread = -1 }) => spread >= 0 && distance <= Math.max(MARGIN * spread, skew));
}

/**
 * Returns how an old value and a second value of a volatile field differ. Null if the second value is possible for the
 * field.
 *
 * @param isOld whether the second value is also from the old service
 */
export function judgeVolatile(
  known: KnownField,
  old: unknown,
  other: unknown,
  isOld: boolean,
): "format" | "value" | null {
  if (hasNewFormat(known, old, other) || (!isOld && isShown(known, lacksFormat))) return "format";
  return isOutOfRange(known, old, other) ? "value" : null;
}
