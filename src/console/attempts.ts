import { createMemoryCounter } from "../limits/memory-counter.ts";
import { network, plainAddress } from "../limits/network.ts";

/** Wrong tokens that an address may show: more than anybody mistypes, and far too few to guess with. */
const WRONG = { points: 10, seconds: 60 };

/** Beyond these the address that was silent longest is forgotten. */
const MOST_ADDRESSES = 10_000;

export type Attempt =
  | { readonly outcome: "right" | "wrong" }
  | { readonly outcome: "limited"; readonly retryAfter: number };

/**
 * Looks at a token that an address shows, unless that address has shown too many wrong ones. Then a right one is not
 * looked at either: its answer would tell it from the wrong ones. `retryAfter` is in seconds.
 */
export type TryToken = (address: string | undefined, token: string) => Promise<Attempt>;

/** @param isToken whether it is the right one */
export function limitAttempts(isToken: (token: string) => boolean): TryToken {
  const wrong = createMemoryCounter(WRONG, MOST_ADDRESSES);

  return async function tryToken(address, token) {
    const place = network(plainAddress(address ?? "") ?? "");
    const { allowed, retryAfter } = await wrong.take(place);
    if (!allowed) return { outcome: "limited", retryAfter };
    if (!isToken(token)) return { outcome: "wrong" };
    await wrong.giveBack(place);
    return { outcome: "right" };
  };
}
