import { HttpError } from "../../dialect/http-error.ts";
import type { RateLimits } from "../../rate-limit/rate-limits.ts";
import type { AlphaRequest, Credentials, RequestContext } from "../context.ts";

/**
 * Counts the request against its limits: of its token, of its address where it has none that v4 has taken.
 *
 * @throws {HttpError} with alpha's status for a rate limit; v4 is not asked then.
 */
export async function enforceRateLimit(
  request: AlphaRequest,
  caller: Credentials,
  notes: RequestContext,
  { limits, limitedStatus }: { limits: RateLimits; limitedStatus: number },
): Promise<void> {
  const { status: standing, creditAddress: vouch } = await limits.consume({
    token: caller.hash,
    address: request.address,
    isKnownToken: notes.tokenInfo?.refused === false,
    isCreate: notes.match?.route.limit === "create",
  });
  notes.rateLimitStatus = standing;
  notes.creditAddress = vouch;
  if (standing.isAllowed) return;
  notes.rejectedBy = "limit";
  throw new HttpError(limitedStatus, "Too many requests. Try again later.");
}
