import { Session, type Profiler } from "node:inspector";

/** Code that runs for the first time. */
export interface Coverage {
  /** Whether anything ran since the last look that never ran before; it counts as known from now on. */
  fresh(): boolean;
  /** The same, without getting to know it. */
  peek(): boolean;
  stop(): void;
}

/** From one character of a script to another. */
type Range = readonly [start: number, end: number];

/** The parts that are dark in both. Both are in order, and none of their ranges overlap. */
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
 * Debian 12's. Of a function that ran, V8 names the parts that didn't; what is new is a part of those that ran.
 *
 * @param covers parts of paths; only scripts whose address contains one are looked at.
 */
export function watchCoverage(covers: readonly string[]): Coverage {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  /** By function, what never ran of it. */
  const dark = new Map<string, readonly Range[]>();

  /** What ran since the last look: each function with what stayed dark of it. */
  function ran(): [name: string, dark: Range[]][] {
    let scripts: Profiler.ScriptCoverage[] = [];
    // A session within its own thread answers before it returns.
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

  /** What is left dark of a function, where that is less than was known. */
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
