/** State about clients that all serving processes share: its location, and the part that this process keeps. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type KeyValueStore,
  type Log,
  type Settings,
  SHARED_STATE_SETTINGS,
  type STATE_SETTINGS,
} from "../../base/index.ts";
import { createSharedTokenCache, createTokenCache, type TokenCache } from "../auth/token-cache.ts";
import { createMemoryLimiter, type LimiterName, withFallback } from "../limits/limiter.ts";
import { createRateLimits, type RateLimits } from "../limits/rate-limits.ts";
import type { StateBackend } from "./state-backend.ts";
import { openSqliteKeyValueStore } from "./sqlite-store.ts";
import { STATE_FILE } from "./sqlite-schema.ts";

/** The state as requests use it. */
export interface SharedState extends Omit<StateBackend, "limiterOf" | "tokenCache"> {
  readonly limits: RateLimits;
  readonly tokens: TokenCache;
}

/** The settings that say where the state is. */
export type StateSettings = Pick<Settings, (typeof STATE_SETTINGS)[number]>;

/** A place in which several processes share their state. Its module is loaded when it is used. */
interface SharedPlace {
  open(settings: Settings, log: Log): Promise<StateBackend>;
  /** Opens its stored keys alone, for a command. @throws {StateUnavailableError} */
  openStore(address: string): Promise<KeyValueStore>;
}

type AddressSetting = (typeof SHARED_STATE_SETTINGS)[number];

/** The place for each setting with an address. */
const PLACES: Readonly<Record<AddressSetting, SharedPlace>> = {
  REDIS_URL: {
    open: async (settings, log) => (await import("./redis-backend.ts")).openRedisBackend(settings, log),
    openStore: async (address) => (await import("./redis-backend.ts")).openRedisState(address),
  },
};

/** The setting that says where several processes share their state. Undefined: this process is alone. */
const addressSettingOf = (settings: StateSettings): AddressSetting | undefined =>
  SHARED_STATE_SETTINGS.find((name) => settings[name] !== undefined);

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

/** Shares limits and token infos. While the backend can't be reached, this process enforces its part of the limits. */
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
export async function openSharedState(settings: Settings, log: Log): Promise<SharedState> {
  const name = addressSettingOf(settings);
  if (name === undefined) return openLocalState(settings, log);
  return withFallbacks(await PLACES[name].open(settings, log), settings);
}

/**
 * Opens the state store of a gateway, which may be running.
 *
 * @returns undefined if there is none yet
 * @throws {StateUnavailableError}
 */
export async function openExistingState(settings: StateSettings): Promise<KeyValueStore | undefined> {
  const name = addressSettingOf(settings);
  if (name !== undefined) return PLACES[name].openStore(settings[name] ?? "");
  const { DATA_DIR: directory } = settings;
  return existsSync(join(directory, STATE_FILE)) ? openSqliteKeyValueStore({ directory }) : undefined;
}
