/** How the work on a text grows with its length. */

/** The work on a text 16 times as long takes 16 times as long if it is linear, and 256 times if it is quadratic. */
const LONGER = 16;
/** One text takes as long as 16 parts of it if the work is linear, and 16 times as long if it is quadratic. */
const TOO_MUCH = 4;

/** Milliseconds within which quadratic work on a text of 16 kB is not done. */
const SOON_MS = 20;
const RUNS = 20;

function wallTime(work: () => unknown): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

/**
 * The time in which this thread computed. It has neither the time in which other processes ran, nor that in which the system
 * supplied memory: a long text is in pages of its own, which are new each time, and that can cost more than linear work on it.
 */
function cpuTime(work: () => unknown): number {
  const begun = process.threadCpuUsage();
  work();
  return process.threadCpuUsage(begun).user / 1000;
}

/**
 * Whether some work takes less than 4 times as long as other work. Garbage collections and other processes slow some runs. So
 * both are measured alternately, up to 20 times, and the shortest time of each counts. Some systems count CPU time in steps of 4
 * ms: that of the work is at least five steps, and the other work is measured by the clock.
 */
export function takesNoLonger(work: () => unknown, other: () => unknown): boolean {
  let [mine, reference] = [Infinity, Infinity];
  for (let run = 0; run < RUNS; run += 1) {
    mine = Math.min(mine, cpuTime(work));
    if (mine < SOON_MS) return true;
    reference = Math.min(reference, wallTime(other));
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
