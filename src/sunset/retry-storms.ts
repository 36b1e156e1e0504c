/** Storms of retries: a client that answers a window with far more requests than it usually sends. */
import { LRUCache } from "lru-cache";

/** More than so many times its usual requests a minute is a storm. */
export const STORM_FACTOR = 10;
/** Fewer refused requests than these in one minute are never a storm. */
export const STORM_REQUESTS = 100;

const MINUTE_MS = 60_000;
const MAX_CLIENTS = 10_000;

/** Counts the requests of one client that were refused in a window. */
export interface StormWatch {
  /**
   * Counts a refused request.
   *
   * @param client its name or fingerprint
   * @param usualPerMinute its usual requests a minute, on all replicas
   * @returns whether its requests of this minute became a storm with this one
   */
  count(client: string, usualPerMinute: number, time: number): boolean;
}

/** Creates a watch. @param replicas How many processes share the requests: this one sees a part of them. */
export function watchStorms(replicas: () => number): StormWatch {
  const counts = new LRUCache<string, { minute: number; requests: number }>({ max: MAX_CLIENTS });
  return {
    count(client, usualPerMinute, time) {
      const minute = Math.floor(time / MINUTE_MS);
      let found = counts.get(client);
      if (!found || found.minute !== minute) {
        found = { minute, requests: 0 };
        counts.set(client, found);
      }
      found.requests += 1;
      const most = Math.max(STORM_REQUESTS, STORM_FACTOR * usualPerMinute) / Math.max(1, replicas());
      return found.requests === Math.floor(most) + 1;
    },
  };
}
