import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";

/** The work of requests, which outlives their connections. */
export interface UnderWay {
  /** Counts one piece of work until it has ended. */
  track<T>(work: Promise<T>): Promise<T>;
  /** Resolves when what is under way has ended, or after so many milliseconds. */
  ended(mostMs: number): Promise<void>;
}

export function workUnderWay(): UnderWay {
  const all = new Set<Promise<unknown>>();
  return {
    track(work) {
      all.add(work);
      const forget = (): void => void all.delete(work);
      work.then(forget, forget);
      return work;
    },
    async ended(mostMs) {
      // A connection tells its request a turn after it was broken off.
      await turn();
      await Promise.race([Promise.allSettled(all), wait(mostMs, undefined, { ref: false })]);
    },
  };
}
