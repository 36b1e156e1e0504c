/** State about clients that all serving processes share: its location, and the part that this process keeps. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { KeyValueStore, Log, Settings, STATE_SETTINGS } from "../../base/index.ts";
import { createSharedTokenCache, createTokenCache, type TokenCache } from "../auth/token-cache.ts";
import { createMemoryLimiter, type LimiterName, withFallback } from "../limits/limiter.ts";
import { createRateLimits, type RateLimits } from "../limits/rate-limits.ts";
import { openSqliteKeyValueStore } from "./sqlite-store.ts";
import { STATE_FILE } from "./sqlite-schema.ts";

/** The state as requests use it. */
export interface SharedState {
  readonly limits: RateLimits;
  readonly tokens: TokenCache;
  /** Token records, and the scopes that applications requested. */
  readonly state: KeyValueStore;
  /** How many processes share it, with this one. */
  replicas(): number;
  /** Why the processes can't share it now. */
  problems(): readonly string[];
  close(): Promise<void>;
}

/** The settings that say where the state is. */
export type StateSettings = Pick<Settings, (typeof STATE_SETTINGS)[number]>;

/** State of this process: its only state, a cache of the shared state, or the fallback for it. */
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

/** Shares limits and token infos in Redis. While it can't be reached, this process enforces its part of the limits. */
async function openReplicatedState(settings: Settings, log: Log): Promise<SharedState> {
  const { openRedisBackend } = await import("./redis-backend.ts");
  const { limiterOf, tokenCache, ...backend } = await openRedisBackend(settings, log);
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

/** The state of a gateway that is alone: in this process, and in SQLite. */
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

/** Opens the state of clients where the settings say. */
export const openSharedState = async (settings: Settings, log: Log): Promise<SharedState> =>
  settings.REDIS_URL === undefined ? openLocalState(settings, log) : openReplicatedState(settings, log);

/**
 * Opens the state store of a gateway, which may be running.
 *
 * @returns undefined if there is none yet
 * @throws {StateUnavailableError}
 */
export async function openExistingState({
  REDIS_URL: url,
  DATA_DIR: directory,
}: StateSettings): Promise<KeyValueStore | undefined> {
  if (url !== undefined) return (await import("./redis-backend.ts")).openRedisState(url);
  return existsSync(join(directory, STATE_FILE)) ? openSqliteKeyValueStore({ directory }) : undefined;
}
