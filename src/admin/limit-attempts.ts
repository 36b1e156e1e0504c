import { createMemoryLimiter } from "../rate-limit/memory-limiter.ts";
import { addressNetwork, normalizeAddress } from "../rate-limit/client-address.ts";

/** Wrong tokens that an address may show: more than anybody mistypes, and far too few to guess with. */
const WRONG = { points: 10, seconds: 60 };

/** Beyond these the address that was silent longest is forgotten. */
const MOST_ADDRESSES = 10_000;

export type Attempt =
  | { readonly outcome: "right" | "wrong" }
  | { readonly outcome: "limited"; readonly retryAfter: number };

/**
 * Looks at a token that an address shows, unless that address has shown too many wrong ones. Then a right one is not
 * taken either: its answer would tell it from the wrong ones. `retryAfter` is in seconds.
 */
export type CheckToken = (address: string | undefined, token: string) => Promise<Attempt>;

/** @param isToken whether it is the right one */
export function createTokenCheck(isToken: (token: string) => boolean): CheckToken {
  const wrong = createMemoryLimiter(WRONG, MOST_ADDRESSES);

  return async function tryToken(address, token) {
    const place = addressNetwork(normalizeAddress(address ?? "") ?? "");
    // A right one counts for nothing, not even for a moment: many at once would lock their own address.
    if (isToken(token)) {
      const seconds = await wrong.wait(place);
      return seconds > 0 ? { outcome: "limited", retryAfter: seconds } : { outcome: "right" };
    }
    const { isAllowed: allowed, retryAfter } = await wrong.consume(place);
    return allowed ? { outcome: "wrong" } : { outcome: "limited", retryAfter };
  };
}
