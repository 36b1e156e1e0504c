import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";

/** Counts the work of in-flight requests, which outlives their connections. */
export interface InFlightTracker {
  /** Counts one promise until it settles. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Counts one piece of work until the result is called. Call it once. */
  begin(): () => void;
  /** Resolves when all tracked promises have settled, or after the given milliseconds. */
  idle(timeoutMs: number): Promise<void>;
}

/** Creates a tracker. A counter, not a `Set` of promises: the set would keep every response in memory until it settles. */
export function createInFlightTracker(): InFlightTracker {
  let count = 0;
  const waiting: (() => void)[] = [];

  function settle(): void {
    count -= 1;
    if (count === 0) for (const resolve of waiting.splice(0)) resolve();
  }

  return {
    begin() {
      count += 1;
      return settle;
    },
    track(work) {
      count += 1;
      work.then(settle, settle);
      return work;
    },
    async idle(timeoutMs) {
      const late = wait(timeoutMs, "late", { ref: false });
      do {
        // A request is notified one turn after its connection was closed, and may begin the work on its record then.
        await nextTurn();
        if (count === 0) return;
      } while (
        (await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), late])) !== "late"
      );
    },
  };
}
