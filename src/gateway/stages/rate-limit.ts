import { HttpError, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import type { RateLimitStatus } from "../limits/limiter.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { RouteMatch } from "../request/context.ts";
import type { AuthenticatedClient } from "../request/client.ts";
import type { AlphaRequest } from "../request/request.ts";

/**
 * Counts a request against the limit of its token, and of its address while v4 has not accepted the token.
 *
 * @returns the client's status, for {@link rejectLimited} and the response's headers, and a function that refunds the
 *   request to the address after v4 accepts the token. Undefined if it was not counted against the address
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
    isCreate: match?.route.rateLimit === "create",
  });

/** The message for a client with too many requests. */
export const RATE_LIMITED = "Too many requests. Try again later.";

/** The error of a request above a limit. Its status is translated as those of all errors. */
export const createLimitError = (): HttpError =>
  new HttpError(TOO_MANY_REQUESTS, RATE_LIMITED, { by: "limit" });

/** Rejects a request above the rate limit. @throws {HttpError} 429 if the limit is exceeded */
export function rejectLimited({ isAllowed }: RateLimitStatus): void {
  if (!isAllowed) throw createLimitError();
}
