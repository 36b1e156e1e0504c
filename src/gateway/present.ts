import type { FoundGrant, GrantBook } from "../tokens/grants.ts";
import type { Caller } from "./exchange.ts";

/** A caller as v4 sees it: with the token that stands for its own now (lesson L24). */
export interface Presented {
  readonly caller: Caller;
  readonly grant: FoundGrant;
}

/**
 * Looks whether the token is one of the gateway's own exchange, and swaps in what v4 knows in its place.
 *
 * @throws {GrantUnavailable} where it has to be renewed first and can't be now
 */
export async function present(caller: Caller, grants: Pick<GrantBook, "find">): Promise<Presented> {
  const { hash, token } = caller;
  // A refusal stays with its caller: it has no token.
  if (hash === undefined || token === undefined) return { caller, grant: undefined };
  const grant = await grants.find(hash, token);
  if (grant === undefined || grant === "unknown") return { caller, grant };
  return { caller: { token: grant.token, hash: grant.hash }, grant };
}
