import { createMemoryCounter } from "../limits/memory-counter.ts";
import { createRateLimits, type RateLimits } from "../limits/rate-limits.ts";
import type { Settings } from "../settings/table.ts";
import { createTokenFacts, type TokenFactsStore } from "../tokens/token-facts.ts";

/** What is known of clients: how often they asked, and what their tokens may do. */
export interface Shared {
  readonly limits: RateLimits;
  readonly tokens: TokenFactsStore;
}

/** Keeps it in this process. */
export function openShared(settings: Settings): Shared {
  const tokens = createTokenFacts({
    size: settings.TOKEN_CACHE_SIZE,
    ttlSeconds: settings.TOKEN_TTL_SECONDS,
    negativeTtlSeconds: settings.TOKEN_NEGATIVE_TTL_SECONDS,
  });
  const all = createMemoryCounter(settings.RATE_LIMIT);
  return { tokens, limits: createRateLimits(all, createMemoryCounter(settings.RATE_LIMIT_CREATE)) };
}
