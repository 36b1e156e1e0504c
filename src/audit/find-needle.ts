/** Bytes that are looked up at once. */
const GRAM_BYTES = 4;
/** With a smaller step the platform's search is as fast. */
const MIN_STEP = 4;
/** Slots of the table of grams: a power of two. */
const SLOTS = 1 << 13;
/** Places that have a gram of a needle. Above it a body is made to have them, and the platform's search is faster. */
const MAX_CANDIDATES = 64;

/** Marks the grams of the needles while a search runs. Searches are synchronous, so they share it. */
const grams = new Uint8Array(SLOTS);

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView =>
  new DataView(buffer, byteOffset, byteLength);

const slotOf = (gram: number): number => Math.imul(gram, 0x9e3779b1) >>> 19;

function markGrams(needles: readonly Buffer[], mark: 0 | 1): void {
  for (const needle of needles) {
    const view = viewOf(needle);
    for (let at = 0; at + GRAM_BYTES <= needle.length; at += 1) grams[slotOf(view.getInt32(at))] = mark;
  }
}

const hasAny = (bytes: Buffer, needles: readonly Buffer[]): boolean =>
  needles.some((needle) => bytes.includes(needle));

/**
 * Whether one of the needles is in the bytes. Linear time.
 *
 * Of a needle of `n` bytes all grams are known, so that a gram is read only at every `n - 3`rd place: one of them is within
 * the needle, wherever it is. For tokens that takes a fifth of the time of `Buffer.includes`.
 */
export function includesAny(bytes: Buffer, needles: readonly Buffer[]): boolean {
  const shortest = needles.reduce((least, { length }) => Math.min(least, length), Infinity);
  const step = shortest - GRAM_BYTES + 1;
  if (step < MIN_STEP || needles.length === 0) return hasAny(bytes, needles);
  markGrams(needles, 1);
  try {
    return searchSteps(bytes, needles, step);
  } finally {
    markGrams(needles, 0);
  }
}

function searchSteps(bytes: Buffer, needles: readonly Buffer[], step: number): boolean {
  const view = viewOf(bytes);
  const last = bytes.length - GRAM_BYTES;
  let candidates = 0;
  for (let at = step - 1; at <= last; at += step) {
    if (grams[slotOf(view.getInt32(at))] === 0) continue;
    candidates += 1;
    if (candidates > MAX_CANDIDATES) return hasAny(bytes, needles);
    if (isAround(bytes, at, needles)) return true;
  }
  return false;
}

/**
 * Whether a needle is in the bytes so that it includes the gram at an offset. A function of its own: a closure in the loop
 * would take memory for each step.
 */
const isAround = (bytes: Buffer, at: number, needles: readonly Buffer[]): boolean =>
  needles.some((needle) =>
    bytes.subarray(Math.max(0, at + GRAM_BYTES - needle.length), at + needle.length).includes(needle),
  );
