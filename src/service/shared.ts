import { createRateLimits } from "../limits/rate-limits.ts";
import type { Settings } from "../settings/table.ts";
import type { KeyedStore } from "../shared-state/keyed-store.ts";
import { openSqliteState } from "../shared-state/sqlite-store.ts";
import type { Log } from "./log.ts";
import { openOwn, type Shared, type ShareOptions } from "./share.ts";

export const openState = ({ DATA_DIR }: Settings): KeyedStore => openSqliteState({ directory: DATA_DIR });

/** Shared in Redis where that is set; else kept in this process, and its state in the data folder. */
export async function openShared(
  settings: Settings,
  log: Log,
  { own = openOwn(settings), serves = true }: ShareOptions = {},
): Promise<Shared> {
  if (settings.REDIS_URL !== undefined) {
    const { openSharedInRedis } = await import("./shared-redis.ts");
    return openSharedInRedis(settings, log, { own, serves });
  }
  const state = openState(settings);
  return {
    limits: createRateLimits(own.counters.all, own.counters.create),
    tokens: own.tokens,
    state,
    faults: () => [],
    replicas: () => 1,
    close: state.close,
  };
}
