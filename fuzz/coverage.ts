import { Session, type Profiler } from "node:inspector";

/** Code that runs for the first time. */
export interface Coverage {
  /** Whether new code ran since the last call. From now on that code counts as covered. */
  fresh(): boolean;
  /** The same, without counting that code as covered. */
  peek(): boolean;
  stop(): void;
}

/** From one character of a script to another. */
type Range = readonly [start: number, end: number];

/** The ranges that ran in neither. Both lists are sorted and without overlaps. */
function darkInBoth(known: readonly Range[], now: readonly Range[]): Range[] {
  return known.flatMap(([start, end]) =>
    now
      .map(([from, to]): Range => [Math.max(start, from), Math.min(end, to)])
      .filter(([from, to]) => from < to),
  );
}

const lengthOf = (ranges: readonly Range[]): number =>
  ranges.reduce((sum, [start, end]) => sum + end - start, 0);

/**
 * Block coverage, which V8 counts itself: libFuzzer's bridge for Node is built against a C library newer than
 * Debian 12's. For a function that ran, V8 reports the ranges that did not run; new coverage is a range less.
 *
 * @param covers parts of paths; only scripts whose URL contains one are counted.
 */
export function watchCoverage(covers: readonly string[]): Coverage {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  /** By function, the ranges that never ran. */
  const dark = new Map<string, readonly Range[]>();

  /** The functions that ran since the last call, each with the ranges that did not run. */
  function ran(): [name: string, dark: Range[]][] {
    let scripts: Profiler.ScriptCoverage[] = [];
    // An inspector session in the same thread calls back before `post` returns.
    session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error) throw error;
      scripts = result;
    });
    return scripts
      .filter(({ url }) => covers.some((part) => url.includes(part)))
      .flatMap(({ scriptId, functions }) =>
        functions
          .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
          .map(({ ranges }): [string, Range[]] => [
            `${scriptId}:${ranges[0]?.startOffset}:${ranges[0]?.endOffset}`,
            ranges
              .filter(({ count }) => count === 0)
              .map(({ startOffset, endOffset }): Range => [startOffset, endOffset]),
          ]),
      );
  }

  /** The ranges of a function that still never ran, if there are fewer than before. */
  function lit(name: string, now: readonly Range[]): readonly Range[] | undefined {
    const before = dark.get(name);
    if (!before) return now;
    const left = darkInBoth(before, now);
    return lengthOf(left) < lengthOf(before) ? left : undefined;
  }

  return {
    fresh() {
      let fresh = false;
      for (const [name, now] of ran()) {
        const left = lit(name, now);
        if (!left) continue;
        dark.set(name, left);
        fresh = true;
      }
      return fresh;
    },
    peek: () => ran().some(([name, now]) => lit(name, now) !== undefined),
    stop: () => session.disconnect(),
  };
}
