/** How the work on a text grows with its length. */
import { UNITS } from "../../../fuzz/worst/places.ts";
import { grow } from "../../../fuzz/worst/text.ts";

/** A factor of work for a doubled input, from which on it is more than linear. Squared it would be 4. */
export const LINEAR = 2.5;

/** Milliseconds of thread time that are well above the noise of a measurement. */
const CLEAR_MS = 4;
const TIMES = 5;

/** Milliseconds of this thread, of one run. */
function spent(work: () => unknown): number {
  const begun = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(begun);
  return (user + system) / 1000;
}

const least = (work: () => unknown): number => Math.min(...Array.from({ length: TIMES }, () => spent(work)));

/**
 * By what the work grows when its input is doubled. The input grows until the work can be measured; what can't even
 * with the longest of `lengths` grows by nothing to speak of.
 *
 * @returns 1 where it can't be measured
 */
export function growth(
  work: (text: string) => unknown,
  make: (length: number) => string,
  lengths: readonly number[],
): number {
  for (const length of lengths) {
    const short = make(length);
    const first = spent(() => work(short));
    if (first < CLEAR_MS) continue;
    const long = make(2 * length);
    const doubled = spent(() => work(long)) / first;
    if (doubled < 2) return doubled;
    const before = least(() => work(short));
    if (before < CLEAR_MS) continue;
    const middle = least(() => work(long));
    // A pause of the garbage collector does not repeat with the next doubling.
    if (middle / before < LINEAR) return middle / before;
    const longest = make(4 * length);
    return Math.min(middle / before, least(() => work(longest)) / middle);
  }
  return 1;
}

/** Text around a shape, so that an expression starts to match, or fails only at the end. */
const FRAMES = [
  ["", ""],
  ["", "!"],
  ['a: "', '"=b'],
] as const;

/** Made once: making a text takes longer than most work on it. */
function remembered(make: (length: number) => string): (length: number) => string {
  const texts = new Map<number, string>();
  return (length) => {
    const text = texts.get(length) ?? make(length);
    texts.set(length, text);
    return text;
  };
}

/** Texts of any length that make expressions backtrack. */
export const SHAPES = UNITS.flatMap((unit) =>
  FRAMES.map(([before, after]) => ({
    name: `${before}${unit}…${after}`,
    make: remembered((length) =>
      Buffer.from(grow({ before, unit, after }, length), "latin1").toString("latin1"),
    ),
  })),
);

/** The shapes at which the work grows too much, with the factors: twice, since anything may happen once. */
export const tooMuch = (work: (text: string) => unknown, lengths: readonly number[]): string[] =>
  SHAPES.flatMap(({ name, make }) => {
    if (growth(work, make, lengths) < LINEAR) return [];
    const factor = growth(work, make, lengths);
    return factor < LINEAR ? [] : [`${name}: ${factor.toFixed(1)}`];
  });
