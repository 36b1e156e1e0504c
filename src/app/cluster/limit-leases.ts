import { LRUCache } from "lru-cache";
import type { Lease } from "../../rate-limit/leased-limiter.ts";
import type { LimiterName, MemoryLimiter } from "../../rate-limit/limiter.ts";

export interface LimitLeasesOptions {
  readonly limiters: Readonly<Record<LimiterName, MemoryLimiter>>;
  readonly workers: number;
  /** Ends the leases of a key in all workers. @returns how many of their requests were not made */
  readonly endLeases: (name: LimiterName, key: string) => Promise<number>;
}

/** Leases the requests of the rate limits to workers. */
export interface LimitLeases {
  /** Counts one request of a worker. @param wantsMore whether the worker can use a lease */
  lease(name: LimiterName, key: string, wantsMore: boolean): Promise<Lease>;
}

const MAX_LEASED_KEYS = 100_000;

/**
 * Creates the leases of a primary. Before a request is rejected, the leases of its key are ended, and what is left of them
 * can be used: a limit is exact, whichever worker a client's requests come to.
 */
export function createLimitLeases({ limiters, workers, endLeases }: LimitLeasesOptions): LimitLeases {
  /** Keys with leases. */
  const leased = new LRUCache<string, true>({ max: MAX_LEASED_KEYS });
  const ending = new Map<string, Promise<void>>();

  async function endAll(id: string, name: LimiterName, key: string): Promise<void> {
    leased.delete(id);
    try {
      await limiters[name].refund(key, await endLeases(name, key));
    } finally {
      ending.delete(id);
    }
  }

  /** Ends the leases of a key. Calls that wait for the same key share one attempt. @returns undefined if the key has no lease */
  function endOnce(id: string, name: LimiterName, key: string): Promise<void> | undefined {
    const pending = ending.get(id);
    if (pending || !leased.has(id)) return pending;
    const started = endAll(id, name, key);
    ending.set(id, started);
    return started;
  }

  return {
    async lease(name, key, wantsMore) {
      const id = `${name} ${key}`;
      const lease = limiters[name].lease(key, wantsMore ? workers : undefined);
      if (lease.extra > 0) leased.set(id, true);
      const ended = lease.status.isAllowed ? undefined : endOnce(id, name, key);
      if (!ended) return lease;
      // The rejected request counts again after that.
      await limiters[name].refund(key);
      await ended;
      return limiters[name].lease(key, undefined);
    },
  };
}
