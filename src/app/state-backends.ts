import { createMemoryLimiter, type MemoryLimiter } from "../rate-limit/memory-limiter.ts";
import { createRateLimits, type RateLimits } from "../rate-limit/rate-limits.ts";
import { withFallback, type Limiter, type LimiterName } from "../rate-limit/limiter.ts";
import type { Settings } from "../config/schema.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { createSharedTokenCache, type TokenCacheBackend } from "../auth/shared-token-cache.ts";
import { createTokenCache, type MemoryTokenCache, type TokenCache } from "../auth/token-cache.ts";

/** What is known of clients, by all processes that serve them together. */
export interface SharedState {
  readonly limits: RateLimits;
  readonly tokens: TokenCache;
  /** Grants and what clients asked for. */
  readonly state: KeyValueStore;
  /** Why processes don't share it now, though they should. */
  problems(): readonly string[];
  /** Processes that share the limits, this one among them. */
  replicas(): number;
  close(): Promise<void>;
}

/** What a process keeps by itself, be it alone, in front of what is shared, or in place of it. */
export interface LocalState {
  readonly limiters: Readonly<Record<LimiterName, MemoryLimiter>>;
  readonly tokens: MemoryTokenCache;
}

export const createLocalState = (settings: Settings): LocalState => ({
  limiters: {
    all: createMemoryLimiter(settings.RATE_LIMIT),
    create: createMemoryLimiter(settings.RATE_LIMIT_CREATE),
  },
  tokens: createTokenCache({
    size: settings.TOKEN_CACHE_SIZE,
    ttlSeconds: settings.TOKEN_TTL_SECONDS,
    negativeTtlSeconds: settings.TOKEN_NEGATIVE_TTL_SECONDS,
  }),
});

/** Where processes share what they count and know. */
export interface StateBackend {
  limiter(name: LimiterName): Limiter;
  readonly tokenCache: TokenCacheBackend;
  /** Processes that share it. */
  replicas(): number;
}

/** Limits and facts of a place, and this process's own where it can't be reached: a share of the limits. */
export function withLocalFallback(
  place: StateBackend,
  own: LocalState,
  settings: Settings,
): Pick<SharedState, "limits" | "tokens"> {
  const counter = (name: LimiterName, points: number): Limiter =>
    withFallback(place.limiter(name), {
      local: own.limiters[name],
      localPoints: () => Math.max(1, Math.floor(points / place.replicas())),
    });
  return {
    limits: createRateLimits(
      counter("all", settings.RATE_LIMIT.points),
      counter("create", settings.RATE_LIMIT_CREATE.points),
    ),
    tokens: createSharedTokenCache(own.tokens, place.tokenCache),
  };
}

export interface StateBackendOptions {
  /** Default: new ones. */
  readonly local?: LocalState;
  /** Does this process serve requests, so that a share of the limits is its own? Default true. */
  readonly serves?: boolean;
}
