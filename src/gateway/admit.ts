import { Refusal } from "../dialect/refusal.ts";
import type { Scopes } from "../dialect/scopes.ts";
import { GrantUnavailable } from "../tokens/grants.ts";
import type { TokenFacts } from "../tokens/token-facts.ts";
import type { Target } from "./exchange.ts";
import type { Presented } from "./present.ts";

/** What is known of the caller's token. */
export interface Known {
  readonly scopes: Scopes;
  readonly facts: TokenFacts | undefined;
}

/**
 * Lets a request through to its route, or not. What a token may do is looked at on every request, from facts
 * alone: the levels of the gateway's own exchange, else v4's scopes; while nothing is known, v4 decides. While it
 * can't be told whether the token is of an exchange, only the lowest level passes: v4 has none below that.
 *
 * @throws {Refusal} 400 for a broken path, 404 for one that is not alpha's, 401 for credentials that can't be
 *   read, 404 for an unknown route, 401 without a token or with one that v4 refused a short while ago, 403 where
 *   the token's level is too low. {GrantUnavailable} where nobody can tell.
 */
export function admit(
  { caller, grant }: Omit<Presented, "replace">,
  found: Target | Refusal | undefined,
  { scopes, facts }: Known,
): Target {
  if (found instanceof Refusal) throw found;
  if (caller.refusal) throw caller.refusal;
  if (!found) throw new Refusal(404, "Not found");
  const { access } = found.route;
  if (access === "public") return found;
  if (caller.hash === undefined) throw new Refusal(401, "An access token is required.");
  if (facts?.refused || (typeof grant === "object" && grant.over))
    throw new Refusal(401, "The access token is not valid.");
  if (grant === "unknown") {
    if (typeof access === "string" || access.level === 0) return found;
    throw new GrantUnavailable("the state store does not tell what a token may do");
  }
  const grants = grant?.levels ?? facts?.grants;
  if (grants !== undefined && !scopes.permits(grants, access))
    throw new Refusal(403, "The access token does not grant this.");
  return found;
}
