/** How values of alpha objects are put in order: within a type by value, between types by type. */

/**
 * Compares two values: negative, 0 or positive. Null (and what is missing) comes first, then false, true,
 * numbers and strings; whatever else there is comes last, all equal.
 */
export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return rank(a) - rank(b);
}

function rank(value: unknown): number {
  if (value === null || value === undefined) return 0;
  if (typeof value === "boolean") return value ? 2 : 1;
  if (typeof value === "number") return 3;
  return typeof value === "string" ? 4 : 5;
}

/**
 * By code point and not, as `<` does it, by UTF-16 unit: there the characters above U+FFFF come before the
 * last ones below, since they are written with units from the middle.
 */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = place(a.charCodeAt(at)) - place(b.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Moves surrogates (U+D800 to U+DFFF) behind all other units. */
function place(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
