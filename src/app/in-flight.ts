import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";

/** The work of requests, which outlives their connections. */
export interface InFlightTracker {
  /** Counts one piece of work until it has ended. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when what is under way has ended, or after so many milliseconds. */
  idle(mostMs: number): Promise<void>;
}

/** Counted and not collected: a set through which every request's promise goes keeps their answers alive for long. */
export function createInFlightTracker(): InFlightTracker {
  let count = 0;
  const waiting: (() => void)[] = [];

  function forget(): void {
    count -= 1;
    if (count === 0) for (const tell of waiting.splice(0)) tell();
  }

  return {
    track(work) {
      count += 1;
      work.then(forget, forget);
      return work;
    },
    async idle(mostMs) {
      // A connection tells its request a turn after it was broken off.
      await turn();
      if (count === 0) return;
      const ended = new Promise<void>((resolve) => waiting.push(resolve));
      await Promise.race([ended, wait(mostMs, undefined, { ref: false })]);
    },
  };
}
