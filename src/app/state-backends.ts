import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  createMemoryLimiter,
  type MemoryLimiter,
  withFallback,
  type Limiter,
  type LimiterName,
} from "../rate-limit/limiter.ts";
import { createRateLimits, type RateLimits } from "../rate-limit/rate-limits.ts";
import type { Settings } from "../config/setting-definitions.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { STATE_FILE } from "../storage/sqlite-schema.ts";
import { openSqliteKeyValueStore } from "../storage/sqlite-store.ts";
import {
  createSharedTokenCache,
  createTokenCache,
  type TokenCacheBackend,
  type MemoryTokenCache,
  type TokenCache,
} from "../auth/token-cache.ts";
import type { Log } from "../observability/log.ts";

/** State about clients, shared by all processes that serve them. */
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

const openKeyValueStore = ({ DATA_DIR }: Settings, log: Log): KeyValueStore =>
  openSqliteKeyValueStore({
    directory: DATA_DIR,
    onLost: (reason) =>
      log.error({ code: "AG_STATE_UNAVAILABLE", reason }, "the state store has lost its file"),
  });

/** The settings that say where the state is. */
export type StateSettings = Pick<Settings, "REDIS_URL" | "DATA_DIR">;

interface StatePlace {
  isNamedBy(settings: StateSettings): boolean;
  open(settings: Settings, log: Log, local: LocalState): Promise<SharedState>;
  /** Opens what a gateway keeps there, for a command. undefined: there is nothing yet. */
  openExisting(settings: StateSettings): Promise<KeyValueStore | undefined>;
}

async function openLocalState(settings: Settings, log: Log, local: LocalState): Promise<SharedState> {
  const state = openKeyValueStore(settings, log);
  return {
    limits: createRateLimits(local.limiters.all, local.limiters.create),
    tokens: local.tokens,
    state,
    problems: () => [],
    replicas: () => 1,
    close: state.close,
  };
}

/** Places of the state. The first that the settings name is used, and only then loaded. */
const PLACES: readonly StatePlace[] = [
  {
    isNamedBy: ({ REDIS_URL }) => REDIS_URL !== undefined,
    open: async (...args) => (await import("./redis-backend.ts")).openRedisBackend(...args),
    openExisting: async (settings) => (await import("./redis-backend.ts")).openRedisState(settings),
  },
  // This process and SQLite, for a gateway that is alone.
  {
    isNamedBy: () => true,
    open: openLocalState,
    openExisting: async ({ DATA_DIR: directory }) =>
      existsSync(join(directory, STATE_FILE)) ? openSqliteKeyValueStore({ directory }) : undefined,
  },
];

const placeOf = (settings: StateSettings): StatePlace => PLACES.find(({ isNamedBy }) => isNamedBy(settings))!;

/** Opens the state of clients where the settings say. */
export async function openSharedState(settings: Settings, log: Log): Promise<SharedState> {
  return placeOf(settings).open(settings, log, createLocalState(settings));
}

/**
 * Opens the state store of a gateway, which may be running.
 *
 * @returns undefined if there is none yet
 * @throws {StateUnavailableError}
 */
export const openExistingState = (settings: StateSettings): Promise<KeyValueStore | undefined> =>
  placeOf(settings).openExisting(settings);
