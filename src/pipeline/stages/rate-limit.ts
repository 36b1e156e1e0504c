import { fingerprint } from "../../auth/token-cache.ts";
import { HttpError } from "../../dialect/http-error.ts";
import { TOO_MANY_REQUESTS } from "../../dialect/statuses.ts";
import type { RateLimitStatus } from "../../rate-limit/limiter.ts";
import type { RateLimits } from "../../rate-limit/rate-limits.ts";
import type { BrownOuts } from "../../brown-outs/brown-outs.ts";
import type { AlphaRequest, AuthenticatedClient, Credentials, RouteMatch } from "../context.ts";

/**
 * Counts a request against the limit of its token; against that of its address while v4 has not accepted the token.
 *
 * @returns the client's status, for {@link rejectLimited} and the response's headers; and how to credit the address
 *   once v4 accepts the token, undefined where the address was not charged
 */
export const consumeRateLimit = (
  { address }: AlphaRequest,
  { credentials, isAccepted }: AuthenticatedClient,
  match: RouteMatch | undefined,
  limits: Pick<RateLimits, "consume">,
): ReturnType<RateLimits["consume"]> =>
  limits.consume({
    token: credentials.hash,
    address,
    isKnownToken: isAccepted,
    isCreate: match?.route.limit === "create",
  });

/** @throws {HttpError} 429 where the rate limit is exceeded */
export function rejectLimited({ isAllowed }: RateLimitStatus): void {
  if (!isAllowed)
    throw new HttpError(TOO_MANY_REQUESTS, "Too many requests. Try again later.", { by: "limit" });
}

/**
 * Rejects a request during a scheduled brown-out, as a server would that fails for a while. Clients take a 500 for
 * temporary, and their operators notice it. With 401 or 403 clients would discard their tokens, with 404 they would
 * believe that their objects are gone, with 400 that their request is wrong. With 420 they would wait in silence.
 *
 * @throws {HttpError} 500, with the end of the brown-out
 */
export function rejectInBrownOut(
  { hash }: Credentials,
  match: RouteMatch | undefined,
  brownOuts: Pick<BrownOuts, "isActive">,
): void {
  if (!match) return;
  const client = hash === undefined ? undefined : fingerprint(hash);
  const until = brownOuts.isActive({ client, route: match.route.name })?.toISOString();
  if (until === undefined) return;
  throw new HttpError(
    500,
    `This interface is going away and is switched off for a while. It is available again at ${until}.`,
    { by: "brown_out", warning: `brown-out until ${until}` },
  );
}
