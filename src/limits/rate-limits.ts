import { network } from "./network.ts";
import type { Counter, Standing } from "./counter.ts";

/** Whose request is counted. */
export interface Counted {
  /** Hash of its token; undefined where there is none. */
  readonly token: string | undefined;
  readonly address: string;
  /** Is the token one that v4 has taken? */
  readonly known: boolean;
  /** Does the limit of creates hold besides? */
  readonly create: boolean;
}

export interface Taken {
  readonly standing: Standing;
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
  take(request: Counted): Promise<Taken>;
  /** Keys that are counted at the moment. */
  readonly size: number;
}

/** Limits over a counter of all requests and one of creates. */
export function createRateLimits(all: Counter, creates: Counter): RateLimits {
  async function takeOf(key: string, create: boolean): Promise<Standing> {
    const standing = await all.take(key);
    return standing.allowed && create ? creates.take(key) : standing;
  }

  return {
    async take({ token, address, known, create }) {
      const place = `address ${network(address)}`;
      if (token === undefined) return { standing: await takeOf(place, create), vouch: undefined };
      if (known) return { standing: await takeOf(token, create), vouch: undefined };
      const coarse = await all.take(place);
      if (!coarse.allowed) return { standing: coarse, vouch: undefined };
      const vouch = async (): Promise<void> => {
        // A window that began later does not owe it.
        if (Date.now() < coarse.resetAt * 1000) await all.giveBack(place);
      };
      return { standing: await takeOf(token, create), vouch };
    },
    get size() {
      return all.size + creates.size;
    },
  };
}
