/** State about clients, shared by all processes that serve them. */
import { type RateLimits, createRateLimits } from "../limits/rate-limits.ts";
import {
  type TokenCache,
  type MemoryTokenCache,
  createTokenCache,
  type TokenCacheBackend,
  createSharedTokenCache,
} from "../auth/token-cache.ts";
import type { KeyValueStore, Settings, STATE_SETTINGS } from "../../base/index.ts";
import {
  type LimiterName,
  type MemoryLimiter,
  createMemoryLimiter,
  type Limiter,
  withFallback,
} from "../limits/limiter.ts";
export interface SharedState {
  readonly limits: RateLimits;
  readonly tokens: TokenCache;
  /** Token records, and the scopes that applications requested. */
  readonly state: KeyValueStore;
  /** Why the processes can't share it now. */
  problems(): readonly string[];
  /** How many processes share the limits, with this one. */
  replicas(): number;
  close(): Promise<void>;
}

/** State of this process: its only state, a cache of the shared state, or the fallback for it. */
export interface LocalState {
  readonly limiters: Readonly<Record<LimiterName, MemoryLimiter>>;
  readonly tokens: MemoryTokenCache;
}

/** Creates the state of this process. */
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

/** Where processes share their limits and token infos. */
export interface StateBackend {
  limiter(name: LimiterName): Limiter;
  readonly tokenCache: TokenCacheBackend;
  /** How many processes share it. */
  replicas(): number;
}

/** Shares limits and token infos. While the backend can't be reached, this process enforces its part of the limits. */
export function withLocalFallback(
  backend: StateBackend,
  local: LocalState,
  settings: Settings,
): Pick<SharedState, "limits" | "tokens"> {
  const limiter = (name: LimiterName, points: number): Limiter =>
    withFallback(backend.limiter(name), {
      local: local.limiters[name],
      localPoints: () => Math.max(1, Math.floor(points / backend.replicas())),
    });
  return {
    limits: createRateLimits(
      limiter("all", settings.RATE_LIMIT.points),
      limiter("create", settings.RATE_LIMIT_CREATE.points),
    ),
    tokens: createSharedTokenCache(local.tokens, backend.tokenCache),
  };
}

/** The settings that say where the state is. */
export type StateSettings = Pick<Settings, (typeof STATE_SETTINGS)[number]>;
