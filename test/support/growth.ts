/** How the work on a text grows with its length. */

/** The work on a text 16 times as long takes 16 times as long if it is linear, and 256 times if it is quadratic. */
const LONGER = 16;
/** One text takes as long as 16 parts of it if the work is linear, and 16 times as long if it is quadratic. */
const TOO_MUCH = 4;

/** Milliseconds within which quadratic work on a text of 16 kB is not done. */
const SOON_MS = 20;
const RUNS = 20;

function milliseconds(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

/**
 * Whether some work takes less than 4 times as long as other work. Other processes slow some runs. So both are measured
 * alternately, up to 20 times, and the shortest time of each counts. CPU time would not be better: some systems count it in
 * steps of 4 ms.
 */
export function takesNoLonger(work: () => unknown, other: () => unknown): boolean {
  let [mine, reference] = [Infinity, Infinity];
  for (let run = 0; run < RUNS; run += 1) {
    mine = Math.min(mine, milliseconds(work));
    if (mine < SOON_MS) return true;
    reference = Math.min(reference, milliseconds(other));
    if (mine < TOO_MUCH * reference) return true;
  }
  return false;
}

/**
 * Whether the work on a text grows no faster than the text: one text of `length` takes less than 4 times as long as 16
 * texts of a sixteenth of it.
 *
 * @param length In characters, at least 16 kB
 */
export function isLinear(
  work: (text: string) => unknown,
  make: (length: number) => string,
  length: number,
): boolean {
  const short = make(length / LONGER);
  const long = make(length);
  const workOnParts = (): void => {
    for (let n = 0; n < LONGER; n += 1) work(short);
  };
  return takesNoLonger(() => work(long), workOnParts);
}
