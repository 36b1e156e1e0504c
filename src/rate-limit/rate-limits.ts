import { addressNetwork } from "./client-address.ts";
import type { Limiter, RateLimitStatus } from "./limiter.ts";

/** Whose request is counted. */
export interface LimitSubject {
  /** Hash of its token; undefined where there is none. */
  readonly token: string | undefined;
  readonly address: string;
  /** Is the token one that v4 has taken? */
  readonly known: boolean;
  /** Does the limit of creates hold besides? */
  readonly create: boolean;
}

export interface ConsumeResult {
  readonly standing: RateLimitStatus;
  /** To be called once v4 has taken a token that was not known: its request is no longer the address's. */
  readonly vouch: (() => Promise<void>) | undefined;
}

export interface RateLimits {
  /**
   * Counts a request against the limit of its token, or of its address where it has none. While a token is not
   * known it counts against both, the address first: whoever makes up tokens makes up no new limit, and no key
   * that would have to be kept. Clients that share an address are not held to its limit, since each of their
   * tokens is known after its first request.
   */
  take(request: LimitSubject): Promise<ConsumeResult>;
  /** Counts a request with a token that is not known against its address alone: the lane of v4's own clients has no limit else. */
  takeGuess(address: string): Promise<ConsumeResult>;
  /** Keys that are counted at the moment. */
  readonly size: number;
}

/** Limits over a counter of all requests and one of creates. */
export function createRateLimits(all: Limiter, creates: Limiter): RateLimits {
  async function takeOf(key: string, create: boolean): Promise<RateLimitStatus> {
    const standing = await all.take(key);
    return standing.allowed && create ? creates.take(key) : standing;
  }

  const placeOf = (address: string): string => `address ${addressNetwork(address)}`;

  async function takeGuess(address: string): Promise<ConsumeResult> {
    const place = placeOf(address);
    const standing = await all.take(place);
    if (!standing.allowed) return { standing, vouch: undefined };
    const vouch = async (): Promise<void> => {
      // A window that began later does not owe it.
      if (Date.now() < standing.resetAt * 1000) await all.giveBack(place);
    };
    return { standing, vouch };
  }

  return {
    takeGuess,
    async take({ token, address, known, create }) {
      if (token === undefined) return { standing: await takeOf(placeOf(address), create), vouch: undefined };
      if (known) return { standing: await takeOf(token, create), vouch: undefined };
      const coarse = await takeGuess(address);
      if (!coarse.standing.allowed) return coarse;
      return { standing: await takeOf(token, create), vouch: coarse.vouch };
    },
    get size() {
      return all.size + creates.size;
    },
  };
}
