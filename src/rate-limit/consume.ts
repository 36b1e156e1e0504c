import { RateLimiterRes, type RateLimiterAbstract } from "rate-limiter-flexible";
import type { RateLimitStatus } from "./limiter.ts";

/**
 * Counts one request in a limiter of the library. It rejects with a plain RateLimiterRes when a key is limited,
 * and with an Error when its store fails: to take one for the other would turn an outage into refusals.
 */
export async function consumeLimiter(limiter: RateLimiterAbstract, key: string): Promise<RateLimitStatus> {
  let allowed = true;
  const state = await limiter.consume(key).catch((refusal: unknown) => {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    allowed = false;
    return refusal;
  });
  // The library tells it by the time of day, which may have been set back since the window began.
  const msLeft = Math.min(state.msBeforeNext, limiter.duration * 1000);
  return {
    isAllowed: allowed,
    limit: limiter.points,
    remaining: Math.max(0, state.remainingPoints),
    resetAt: Math.ceil((Date.now() + msLeft) / 1000),
    retryAfter: Math.max(1, Math.ceil(msLeft / 1000)),
  };
}
