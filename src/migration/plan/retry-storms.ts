/** Storms of retries: a client that answers a window with far more requests than it usually sends. */
import { LRUCache } from "lru-cache";

/** More than this many times its usual requests a minute is a storm. */
export const STORM_FACTOR = 10;
/** Fewer refused requests than these in one minute are never a storm. */
export const STORM_REQUESTS = 100;

const MINUTE_MS = 60_000;
const MAX_CLIENTS = 10_000;

/** The requests of a client in a minute. */
interface Minute {
  readonly minute: number;
  requests: number;
  /** Undefined until it is known. */
  usualPerMinute: number | undefined;
}

/**
 * Creates a watch. Each process counts the requests that it gets, against the whole bound: a client with one connection is on one
 * process, so that a part of the bound would take ordinary requests for a storm.
 */
export function watchStorms() {
  const counts = new LRUCache<string, Minute>({ max: MAX_CLIENTS });

  return {
    /**
     * Counts a refused request.
     *
     * @param client its name or key
     * @param readUsual Reads its usual requests a minute, on all replicas; undefined: it has none. It is called once in
     *   a minute in which the client sends enough requests for a storm.
     * @returns whether its requests of this minute became a storm with this one
     */
    async count(
      client: string,
      time: number,
      readUsual: () => Promise<number | undefined>,
    ): Promise<boolean> {
      const minute = Math.floor(time / MINUTE_MS);
      let found = counts.get(client);
      if (!found || found.minute !== minute) {
        found = { minute, requests: 0, usualPerMinute: undefined };
        counts.set(client, found);
      }
      found.requests += 1;
      if (found.requests === STORM_REQUESTS + 1) {
        found.usualPerMinute = await readUsual();
        const most = mostOf(found.usualPerMinute);
        // Others have been counted meanwhile.
        return found.requests > most;
      }
      return found.requests === mostOf(found.usualPerMinute) + 1;
    },
  };
}

/** How many requests a minute are no storm yet. A client without usual requests has none: invented tokens pause nothing. */
const mostOf = (usualPerMinute: number | undefined): number =>
  usualPerMinute === undefined ? Infinity : Math.max(STORM_REQUESTS, STORM_FACTOR * usualPerMinute);
