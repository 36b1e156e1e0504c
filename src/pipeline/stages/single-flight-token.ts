import { setTimeout as wait } from "node:timers/promises";
import type { TokenInfo, TokenCache } from "../../auth/token-cache.ts";
import type { TokenLocks } from "../../auth/token-locks.ts";
import type { Credentials, RequestContext, RouteMatch } from "../context.ts";

/** How long a request waits for another one to learn about the token: v4 may be slow for another reason. */
const LONGEST_WAIT_MS = 2000;

/**
 * Single flight for an unknown token: one request at a time calls v4 with it, the others wait for what it learns.
 *
 * @returns the token info once this request may go on; undefined where it holds the lock itself or the wait timed out
 */
export async function singleFlightToken(
  { hash }: Credentials,
  { route }: RouteMatch,
  notes: RequestContext,
  { tokens, tokenLocks }: { tokens: TokenCache; tokenLocks: TokenLocks },
): Promise<TokenInfo | undefined> {
  if (notes.tokenInfo !== undefined || hash === undefined || route.access === "public")
    return notes.tokenInfo;
  let deadline: Promise<boolean> | undefined;
  for (;;) {
    const lock = tokenLocks.acquire(hash);
    if (typeof lock === "function") {
      notes.releaseTokenLock = lock;
      return undefined;
    }
    deadline ??= wait(LONGEST_WAIT_MS, true, { ref: false });
    const late = await Promise.race([lock.then(() => false), deadline]);
    const facts = await tokens.get(hash);
    if (facts !== undefined || late) return facts;
  }
}
