import { existsSync } from "node:fs";
import { join } from "node:path";
import { createRateLimits } from "../limits/rate-limits.ts";
import type { KeyValueStore, Log, Settings } from "../../base/index.ts";
import { STATE_FILE } from "./sqlite-schema.ts";
import { openSqliteKeyValueStore } from "./sqlite-store.ts";
import { type StateSettings, type SharedState, createLocalState, type LocalState } from "./shared-state.ts";

const openKeyValueStore = ({ DATA_DIR }: Pick<Settings, "DATA_DIR">, log: Log): KeyValueStore =>
  openSqliteKeyValueStore({
    directory: DATA_DIR,
    onLost: (reason) =>
      log.error({ code: "AG_STATE_UNAVAILABLE", reason }, "the state store has lost its file"),
  });

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
