import { setTimeout as wait } from "node:timers/promises";
import type { TokenInfo, TokenCache } from "../../auth/token-cache.ts";
import type { TokenLocks } from "../../auth/token-locks.ts";
import type { Credentials, RequestContext, RouteMatch } from "../context.ts";

/** Longer nobody waits for what another request may learn: v4 can be slow about something else. */
const LONGEST_WAIT_MS = 2000;

/**
 * Lets one request at a time ask v4 with a token of which nothing is known. The others wait for what it learns.
 *
 * @returns what is known when this request may go on: nothing where the turn is its own, or has lasted too long.
 */
export async function singleFlightToken(
  { hash }: Credentials,
  { route }: RouteMatch,
  notes: RequestContext,
  { tokens, turns }: { tokens: TokenCache; turns: TokenLocks },
): Promise<TokenInfo | undefined> {
  if (notes.facts !== undefined || hash === undefined || route.access === "public") return notes.facts;
  let deadline: Promise<boolean> | undefined;
  for (;;) {
    const turn = turns.begin(hash);
    if (typeof turn === "function") {
      notes.learnt = turn;
      return undefined;
    }
    deadline ??= wait(LONGEST_WAIT_MS, true, { ref: false });
    const late = await Promise.race([turn.then(() => false), deadline]);
    const facts = await tokens.get(hash);
    if (facts !== undefined || late) return facts;
  }
}
