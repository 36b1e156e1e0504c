import { addressNetwork } from "./client-address.ts";
import type { Limiter, RateLimitStatus } from "./limiter.ts";

/** Whose request is counted. */
export interface LimitSubject {
  /** Hash of its token; undefined where there is none. */
  readonly token: string | undefined;
  readonly address: string;
  /** Is the token one that v4 has taken? */
  readonly isKnownToken: boolean;
  /** Does the limit of creates hold besides? */
  readonly isCreate: boolean;
}

export interface ConsumeResult {
  readonly status: RateLimitStatus;
  /** To be called once v4 has taken a token that was not known: its request is no longer the address's. */
  readonly creditAddress: (() => Promise<void>) | undefined;
}

export interface RateLimits {
  /**
   * Counts a request against the limit of its token, or of its address where it has none. While a token is not
   * known it counts against both, the address first: whoever makes up tokens makes up no new limit, and no key
   * that would have to be kept. Clients that share an address are not held to its limit, since each of their
   * tokens is known after its first request.
   */
  consume(request: LimitSubject): Promise<ConsumeResult>;
  /** Counts a request with a token that is not known against its address alone: the lane of v4's own clients has no limit else. */
  takeGuess(address: string): Promise<ConsumeResult>;
  /** Keys that are counted at the moment. */
  readonly size: number;
}

/** Limits over a counter of all requests and one of creates. */
export function createRateLimits(all: Limiter, creates: Limiter): RateLimits {
  async function takeOf(key: string, create: boolean): Promise<RateLimitStatus> {
    const standing = await all.consume(key);
    return standing.isAllowed && create ? creates.consume(key) : standing;
  }

  const placeOf = (address: string): string => `address ${addressNetwork(address)}`;

  async function takeGuess(address: string): Promise<ConsumeResult> {
    const place = placeOf(address);
    const standing = await all.consume(place);
    if (!standing.isAllowed) return { status: standing, creditAddress: undefined };
    const vouch = async (): Promise<void> => {
      // A window that began later does not owe it.
      if (Date.now() < standing.resetAt * 1000) await all.refund(place);
    };
    return { status: standing, creditAddress: vouch };
  }

  return {
    takeGuess,
    async consume({ token, address, isKnownToken: known, isCreate: create }) {
      if (token === undefined)
        return { status: await takeOf(placeOf(address), create), creditAddress: undefined };
      if (known) return { status: await takeOf(token, create), creditAddress: undefined };
      const coarse = await takeGuess(address);
      if (!coarse.status.isAllowed) return coarse;
      return { status: await takeOf(token, create), creditAddress: coarse.creditAddress };
    },
    get size() {
      return all.size + creates.size;
    },
  };
}
