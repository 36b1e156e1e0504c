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
  const { standing, vouch } = await limits.take({
    token: caller.hash,
    address: request.address,
    known: notes.facts?.refused === false,
    create: notes.target?.route.limit === "create",
  });
  notes.standing = standing;
  notes.vouch = vouch;
  if (standing.allowed) return;
  notes.refusal = "limit";
  throw new HttpError(limitedStatus, "Too many requests. Try again later.");
}
