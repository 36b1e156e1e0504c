import type { RateLimits, Standing } from "../limits/rate-limits.ts";
import { Refusal } from "../dialect/refusal.ts";
import type { AlphaRequest, Caller, Notes, Target } from "./exchange.ts";

/**
 * Counts the request against its limits: of its token, of its address where it has none.
 *
 * @throws {Refusal} with alpha's status for a rate limit; v4 is not asked then.
 */
export async function meter(
  request: AlphaRequest,
  caller: Caller,
  target: Target | undefined,
  { limits, limitedStatus, notes }: { limits: RateLimits; limitedStatus: number; notes: Notes },
): Promise<Standing> {
  const key = caller.hash ?? `address ${request.address}`;
  const standing = await limits.take(key, target?.route.limit === "create");
  notes.standing = standing;
  if (!standing.allowed) throw new Refusal(limitedStatus, "Too many requests. Try again later.");
  return standing;
}
