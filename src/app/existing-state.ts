import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../config/setting-definitions.ts";
import type { KeyValueStore } from "../storage/key-value-store.ts";
import { STATE_FILE } from "../storage/sqlite-schema.ts";
import { openSqliteKeyValueStore } from "../storage/sqlite-store.ts";

/**
 * Opens the state store of a gateway, which may be running.
 *
 * @returns undefined if there is none yet
 * @throws {StateUnavailableError}
 */
export async function openExistingState({
  REDIS_URL: url,
  DATA_DIR: directory,
}: Pick<Settings, "REDIS_URL" | "DATA_DIR">): Promise<KeyValueStore | undefined> {
  if (url === undefined)
    return existsSync(join(directory, STATE_FILE)) ? openSqliteKeyValueStore({ directory }) : undefined;
  // Loaded only if it is used.
  const { connectRedis } = await import("../storage/redis-client.ts");
  const { createRedisStore } = await import("../storage/redis-store.ts");
  const redis = await connectRedis({ url, onChange: () => {} });
  return { ...createRedisStore(redis), close: redis.close };
}
