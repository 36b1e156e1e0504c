/** Knowledge about the values of one field of the old service, which decides whether other values are possible. */
import { z } from "zod";
import { distanceOf, formatsOf } from "./value-format.ts";

const count = z.number().nonnegative();

/** The pairs of a client for one field and kind of difference. */
export const fieldState = z.object({
  /** Number of pairs in which the two responses of the old service differed. */
  differing: count.default(0),
  /** Number of differences from the new response that were found again, and that were not. */
  found: count.default(0),
  missed: count.default(0),
  /** The largest distance of two values of a pair: of numbers, or of times in milliseconds. */
  spread: count.optional(),
  /** The formats of the values: see {@link formatsOf}. */
  formats: z.array(z.string()).default([]),
});

export type FieldState = z.infer<typeof fieldState>;

/** The knowledge of the clients of a route about one field. */
export interface KnownField {
  /** The client's own evidence. Undefined if missing. */
  readonly own: FieldState | undefined;
  readonly others: readonly FieldState[];
}

/** Maximum number of formats of a field. */
const MAX_FORMATS = 12;
/** If a field has more punctuation patterns than this, a new pattern is not a difference. */
const MAX_PATTERNS = 3;
/** Milliseconds by which the clocks of two services may differ. The difference between two time zones is always larger. */
const CLOCK_SKEW_MS = 300_000;
/** A new value may be this many times as far from the old value as two old values are from each other. */
const MARGIN = 3;

/** Records two values of the old service that are not the same. */
export function recordValues(state: FieldState, pair: readonly [unknown, unknown]): void {
  const formats = new Set([...state.formats, ...pair.flatMap(formatsOf)]);
  state.formats = [...formats].slice(0, MAX_FORMATS);
  const distance = distanceOf(...pair);
  if (distance !== undefined) state.spread = Math.max(state.spread ?? 0, distance);
}

/** Halves a counter. */
export const half = (counter: number): number => Math.floor(counter / 2);

/** Halves all counters, so that they follow changes of the service. */
export function halve(state: FieldState): void {
  state.differing = half(state.differing);
  state.found = half(state.found);
  state.missed = half(state.missed);
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
  if (isShown(known, ({ formats }) => formats.length >= MAX_FORMATS)) return false;
  const all = new Set([known.own, ...known.others].flatMap((state) => state?.formats ?? []));
  const seen = [...all].filter((format) => isShown(known, ({ formats }) => formats.includes(format)));
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
 */
export function judgeVolatile(known: KnownField, old: unknown, other: unknown): "format" | "value" | null {
  if (hasNewFormat(known, old, other)) return "format";
  return isOutOfRange(known, old, other) ? "value" : null;
}
