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
 * Whether the work on a text grows no faster than the text: one text of `length` takes less than 4 times as long as 16
 * texts of a sixteenth of it. Other processes slow some runs. So both are measured alternately, up to 20 times, and the
 * shortest time of each counts. CPU time would not be better: some systems count it in steps of 4 ms.
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

  let [whole, parts] = [Infinity, Infinity];
  for (let run = 0; run < RUNS; run += 1) {
    whole = Math.min(
      whole,
      milliseconds(() => work(long)),
    );
    if (whole < SOON_MS) return true;
    parts = Math.min(parts, milliseconds(workOnParts));
    if (whole < TOO_MUCH * parts) return true;
  }
  return false;
}
