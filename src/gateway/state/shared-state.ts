/** State about clients that all serving processes share: its location, and the part that this process keeps. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { KeyValueStore, Log, Settings } from "../../base/index.ts";
import {
  createSharedTokenCache,
  createTokenCache,
  type MemoryTokenCache,
  type TokenCache,
} from "../auth/token-cache.ts";
import {
  createMemoryLimiter,
  type Limiter,
  type LimiterName,
  type MemoryLimiter,
  withFallback,
} from "../limits/limiter.ts";
import { createRateLimits, type RateLimits } from "../limits/rate-limits.ts";
import type { StateBackend, StateSettings } from "./state-backend.ts";
import { STATE_FILE } from "./sqlite-schema.ts";
import { openSqliteKeyValueStore } from "./sqlite-store.ts";

/** The state as requests use it. */
export interface SharedState extends Pick<StateBackend, "state" | "replicas" | "problems" | "close"> {
  readonly limits: RateLimits;
  readonly tokens: TokenCache;
}

/** State of this process: its only state, a cache of the shared state, or the fallback for it. */
interface LocalState {
  readonly limiters: Readonly<Record<LimiterName, MemoryLimiter>>;
  readonly tokens: MemoryTokenCache;
}

const createLocalState = (settings: Settings): LocalState => ({
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

/** Shares limits and token infos. While the backend can't be reached, this process enforces its part of the limits. */
function withLocalFallback(backend: StateBackend, settings: Settings): SharedState {
  const local = createLocalState(settings);
  const limiter = (name: LimiterName, points: number): Limiter =>
    withFallback(backend.limiter(name), {
      local: local.limiters[name],
      localPoints: () => Math.max(1, Math.floor(points / backend.replicas())),
    });
  return {
    ...backend,
    limits: createRateLimits(
      limiter("all", settings.RATE_LIMIT.points),
      limiter("create", settings.RATE_LIMIT_CREATE.points),
    ),
    tokens: createSharedTokenCache(local.tokens, backend.tokenCache),
  };
}

/** The state of a gateway that is alone: in this process, and in SQLite. */
async function openLocalState(settings: Settings, log: Log): Promise<SharedState> {
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

interface StatePlace {
  isNamedBy(settings: StateSettings): boolean;
  open(settings: Settings, log: Log): Promise<SharedState>;
  /** Opens the state of a gateway, for a command. Undefined if there is none yet. */
  openExisting(settings: StateSettings): Promise<KeyValueStore | undefined>;
}

/** Places of the state. The first that the settings name is used, and only then loaded. */
const PLACES: readonly StatePlace[] = [
  {
    isNamedBy: ({ REDIS_URL }) => REDIS_URL !== undefined,
    async open(settings, log) {
      const { openRedisBackend } = await import("./redis-backend.ts");
      return withLocalFallback(await openRedisBackend(settings, log), settings);
    },
    openExisting: async (settings) => (await import("./redis-backend.ts")).openRedisState(settings),
  },
  {
    isNamedBy: () => true,
    open: openLocalState,
    openExisting: async ({ DATA_DIR: directory }) =>
      existsSync(join(directory, STATE_FILE)) ? openSqliteKeyValueStore({ directory }) : undefined,
  },
];

const placeOf = (settings: StateSettings): StatePlace => PLACES.find(({ isNamedBy }) => isNamedBy(settings))!;

/** Opens the state of clients where the settings say. */
export const openSharedState = (settings: Settings, log: Log): Promise<SharedState> =>
  placeOf(settings).open(settings, log);

/**
 * Opens the state store of a gateway, which may be running.
 *
 * @returns undefined if there is none yet
 * @throws {StateUnavailableError}
 */
export const openExistingState = (settings: StateSettings): Promise<KeyValueStore | undefined> =>
  placeOf(settings).openExisting(settings);
