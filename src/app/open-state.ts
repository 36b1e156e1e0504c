import { createRateLimits } from "../rate-limit/rate-limits.ts";
import type { Settings } from "../config/schema.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { openSqliteStore } from "../storage/sqlite-store.ts";
import type { Log } from "../observability/log.ts";
import { createLocalState, type SharedState, type StateBackendOptions } from "./state-backends.ts";

export const openKeyValueStore = ({ DATA_DIR }: Settings): KeyValueStore =>
  openSqliteStore({ directory: DATA_DIR });

/** Shared in Redis where that is set; else kept in this process, and its state in the data folder. */
export async function openSharedState(
  settings: Settings,
  log: Log,
  { local: own = createLocalState(settings), serves = true }: StateBackendOptions = {},
): Promise<SharedState> {
  if (settings.REDIS_URL !== undefined) {
    const { openRedisBackend } = await import("./redis-backend.ts");
    return openRedisBackend(settings, log, { local: own, serves });
  }
  const state = openKeyValueStore(settings);
  return {
    limits: createRateLimits(own.limiters.all, own.limiters.create),
    tokens: own.tokens,
    state,
    problems: () => [],
    replicas: () => 1,
    close: state.close,
  };
}
