/** State about clients that all serving processes share: its location, and the part that this process stores. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { KeyValueStore, Log, Settings, STATE_SETTINGS } from "../../base/index.ts";
import { createSharedTokenCache, createTokenCache, type TokenCache } from "../auth/token-cache.ts";
import { createMemoryLimiter, type LimiterName, withFallback } from "../limits/limiter.ts";
import { createRateLimits, type RateLimits } from "../limits/rate-limits.ts";
import type { StateBackend } from "./state-backend.ts";
import { openSqliteKeyValueStore } from "./sqlite-store.ts";
import { STATE_FILE } from "./sqlite-schema.ts";

/** The state in the form for requests. */
export interface SharedState extends Omit<StateBackend, "limiterOf" | "tokenCache"> {
  readonly limits: RateLimits;
  readonly tokens: TokenCache;
}

/** The settings that define where the state is stored. */
export type StateSettings = Pick<Settings, (typeof STATE_SETTINGS)[number]>;

/** Creates the state of this process: its only state, a cache of the shared state, or the fallback for it. */
const createLocalState = (settings: Settings) => ({
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

/**
 * Adds fallbacks for shared limits and token infos. While the backend can't be reached, this process enforces its part
 * of the limits.
 */
function withFallbacks({ limiterOf, tokenCache, ...backend }: StateBackend, settings: Settings): SharedState {
  const { limiters, tokens } = createLocalState(settings);
  const limiter = (name: LimiterName, points: number) =>
    withFallback(limiterOf(name), {
      local: limiters[name],
      localPoints: () => Math.max(1, Math.floor(points / backend.replicas())),
    });
  return {
    ...backend,
    limits: createRateLimits(
      limiter("all", settings.RATE_LIMIT.points),
      limiter("create", settings.RATE_LIMIT_CREATE.points),
    ),
    tokens: createSharedTokenCache(tokens, tokenCache),
  };
}

/** Opens the state of a single-process gateway: memory and SQLite. */
function openLocalState(settings: Settings, log: Log): SharedState {
  const { limiters, tokens } = createLocalState(settings);
  const state = openSqliteKeyValueStore({
    directory: settings.DATA_DIR,
    onLost: (reason) =>
      log.error({ code: "AG_STATE_UNAVAILABLE", reason }, "the state store has lost its file"),
  });
  return {
    limits: createRateLimits(limiters.all, limiters.create),
    tokens,
    state,
    problems: () => [],
    replicas: () => 1,
    close: state.close,
  };
}

/** Opens the state of clients in the store that the settings define. */
export async function openSharedState(settings: Settings, log: Log): Promise<SharedState> {
  if (settings.REDIS_URL === undefined) return openLocalState(settings, log);
  // The module is loaded when it is used.
  const { openRedisBackend } = await import("./redis-backend.ts");
  return withFallbacks(await openRedisBackend(settings, log), settings);
}

/**
 * Opens the state store of a gateway, even while that gateway runs.
 *
 * @returns undefined if there is no store yet
 * @throws {StateUnavailableError}
 */
export async function openExistingState(settings: StateSettings): Promise<KeyValueStore | undefined> {
  const { DATA_DIR: directory, REDIS_URL } = settings;
  if (REDIS_URL !== undefined) return (await import("./redis-backend.ts")).openRedisState(REDIS_URL);
  return existsSync(join(directory, STATE_FILE)) ? openSqliteKeyValueStore({ directory }) : undefined;
}
