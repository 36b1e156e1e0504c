import { Refusal } from "../dialect/refusal.ts";
import type { Scopes } from "../dialect/scopes.ts";
import type { TokenFacts } from "../tokens/token-facts.ts";
import type { Caller, Target } from "./exchange.ts";

/**
 * Lets a request through to its route, or not. What a token may do is looked at on every request, from facts
 * alone; while nothing is known of it, v4 decides.
 *
 * @throws {Refusal} 400 for a broken path, 404 for one that is not alpha's, 401 for credentials that can't be
 *   read, 404 for an unknown route, 401 without a token or with one that v4 refused a short while ago, 403 where
 *   the token's level is too low.
 */
export function admit(
  caller: Caller,
  found: Target | Refusal | undefined,
  scopes: Scopes,
  facts: TokenFacts | undefined,
): Target {
  if (found instanceof Refusal) throw found;
  if (caller.refusal) throw caller.refusal;
  if (!found) throw new Refusal(404, "Not found");
  const { access } = found.route;
  if (access === "public") return found;
  if (caller.hash === undefined) throw new Refusal(401, "An access token is required.");
  if (facts?.refused) throw new Refusal(401, "The access token is not valid.");
  if (facts?.grants !== undefined && !scopes.permits(facts.grants, access))
    throw new Refusal(403, "The access token does not grant this.");
  return found;
}
