import { addressNetwork } from "../../base/index.ts";
import { createMemoryLimiter, type Limiter, type RateLimitStatus } from "./limiter.ts";

/** The client whose request is counted. */
export interface LimitSubject {
  /** Hash of the client's token. Undefined if there is no token. */
  readonly token: string | undefined;
  readonly address: string;
  /** Whether v4 has accepted the token before. */
  readonly isKnownToken: boolean;
  /** Whether the limit for creates applies in addition. */
  readonly isCreate: boolean;
}

interface ConsumeResult {
  readonly status: RateLimitStatus;
  /** Call this when v4 accepts a token that was unknown. It refunds the request to the address. */
  readonly creditAddress: (() => Promise<void>) | undefined;
}

export type RateLimits = ReturnType<typeof createRateLimits>;

/** Creates the rate limits from a limiter for all requests and one for creates. */
export function createRateLimits(all: Limiter, creates: Limiter) {
  const keyOf = (address: string): string => `address ${addressNetwork(address)}`;

  /**
   * Counts a request with an unknown token only against its address, for the native proxy, which has no other limit.
   */
  async function consumeAddress(address: string): Promise<ConsumeResult> {
    const key = keyOf(address);
    const askedAt = performance.now();
    const status = await all.consume(key);
    if (!status.isAllowed) return { status, creditAddress: undefined };
    const endsAt = askedAt + status.msLeft;
    const creditAddress = async (): Promise<void> => {
      // In the next window, the request was not counted.
      if (performance.now() < endsAt) await all.refund(key);
    };
    return { status, creditAddress };
  }

  return {
    consumeAddress,
    /**
     * Counts a request against the limit of its token, or of its address if there is no token. A request with an
     * unknown token is counted against both, the address first, so that inventing tokens allows no additional requests
     * or keys. The limit of a shared address does not affect its clients, because each token is known after its first
     * request.
     */
    async consume({ token, address, isKnownToken, isCreate }: LimitSubject): Promise<ConsumeResult> {
      const isUnknown = token !== undefined && !isKnownToken;
      const ofAddress = isUnknown ? await consumeAddress(address) : undefined;
      if (ofAddress?.status.isAllowed === false) return ofAddress;
      const key = token ?? keyOf(address);
      let status = await all.consume(key);
      if (status.isAllowed && isCreate) status = await creates.consume(key);
      return { status, creditAddress: ofAddress?.creditAddress };
    },
    /** Number of counted keys. */
    get size(): number {
      return all.size + creates.size;
    },
  };
}

const UNLIMITED = { points: 1_000_000_000, seconds: 1 };

/** Creates rate limits that are never reached, for requests of the gateway itself. */
export const createUnlimitedRates = (): RateLimits =>
  createRateLimits(createMemoryLimiter(UNLIMITED), createMemoryLimiter(UNLIMITED));
