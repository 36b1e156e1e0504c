import { setImmediate as nextTurn } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { toSeconds, type Limiter, type RateLimitStatus } from "./limiter.ts";

/** The rate limit of a key after a request, and further requests that a process may allow on its own. */
export interface Lease {
  readonly status: RateLimitStatus;
  /** Requests in addition to the one that was counted. They are counted already. */
  readonly extra: number;
  /** Milliseconds until the window ends, and the lease with it. */
  readonly windowMs: number;
}

/** A limiter in another process that gives leases. */
export interface LeaseSource {
  /**
   * Counts one request, and leases more where many remain.
   *
   * @param wantsMore false: count this request alone
   * @throws {Error} if it can't be reached
   */
  lease(key: string, wantsMore: boolean): Promise<Lease>;
  /** Takes back requests of the current window that were counted and not made. */
  refund(key: string, count: number): Promise<void>;
}

/** A limiter that asks another process only when its lease is used up. */
export interface LeasedLimiter extends Limiter {
  /** Ends a lease. @returns how many of its requests were not made */
  endLease(key: string): Promise<number>;
}

interface HeldLease {
  left: number;
  readonly limit: number;
  /** What remains for all processes, without this lease. */
  readonly others: number;
  readonly resetAt: number;
  /** By `performance.now()`: the system clock may be set. */
  readonly expiresAt: number;
}

const MAX_LEASES = 10_000;

/**
 * Creates a limiter whose counts are in another process. A message for each request would cost a third of a request's
 * CPU time. No more requests are allowed than the limit says: leased requests are counted when they are leased. Other
 * processes can have what is left of a lease: see {@link LeasedLimiter.endLease}.
 */
export function createLeasedLimiter(source: LeaseSource): LeasedLimiter {
  const leases = new LRUCache<string, HeldLease>({
    max: MAX_LEASES,
    dispose(lease, key, reason) {
      if (reason === "evict" && isValid(lease)) void source.refund(key, lease.left).catch(() => {});
    },
  });
  const requested = new Set<string>();

  function consumeLease(lease: HeldLease): RateLimitStatus {
    const { limit, others, resetAt, expiresAt } = lease;
    lease.left -= 1;
    const msLeft = expiresAt - performance.now();
    return {
      isAllowed: true,
      limit,
      remaining: others + lease.left,
      resetAt,
      retryAfter: toSeconds(msLeft),
      msLeft,
    };
  }

  async function requestLease(key: string): Promise<RateLimitStatus> {
    // Of many requests at the same time one gets the lease.
    const wantsMore = !requested.has(key);
    if (!wantsMore) return (await source.lease(key, false)).status;
    requested.add(key);
    try {
      const { status, extra, windowMs } = await source.lease(key, true);
      if (extra > 0) {
        const { limit, remaining, resetAt } = status;
        leases.set(key, {
          left: extra,
          limit,
          others: remaining - extra,
          resetAt,
          expiresAt: performance.now() + windowMs,
        });
      }
      return status;
    } finally {
      requested.delete(key);
    }
  }

  return {
    consume(key) {
      const lease = leases.get(key);
      if (lease && isValid(lease)) return consumeLease(lease);
      return requestLease(key);
    },
    async refund(key) {
      const lease = leases.get(key);
      if (lease && isValid(lease)) lease.left += 1;
      else await source.refund(key, 1);
    },
    async endLease(key) {
      // A lease that came before this call may wait for the next turn to be used.
      await nextTurn();
      const lease = leases.get(key);
      leases.delete(key);
      return lease && isValid(lease) ? lease.left : 0;
    },
    size: 0,
  };
}

const isValid = ({ left, expiresAt }: HeldLease): boolean => left > 0 && performance.now() < expiresAt;
