import { z } from "zod";
import {
  errorText,
  GROUP_ENTRIES,
  type KeyValueStore,
  NOT_WRITABLE,
  type Owner,
  type OwnerGroup,
  type Room,
  StateUnavailableError,
} from "../../base/index.ts";
import type { RedisClient } from "./redis-client.ts";
import {
  ADD_ENTRY,
  ADD_MEMBER,
  DELETE,
  FIND_ROOM,
  INTEGER,
  MARK,
  MEMBERS,
  PREFIX,
  readReply,
  REPLACE,
  TEXT,
  TEXTS,
} from "./redis-replies.ts";

/** Returns a stored text without its owner. */
const valueOf = (stored: string): string =>
  stored.startsWith(MARK) ? stored.slice(stored.indexOf(MARK, 1) + 1) : stored;

/**
 * Returns the used part of a Redis' memory; 0 if the memory is unlimited, if Redis evicts keys, or if the reply does
 * not contain it.
 */
function memoryUse(info: string): number {
  if (!/^maxmemory_policy:noeviction/m.test(info)) return 0;
  const bytes = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
  const most = bytes("maxmemory");
  return most === 0 ? 0 : Math.min(1, bytes("used_memory") / most);
}

const ROOM: z.ZodType<Room> = z.enum(["free", "share used up", "store full"]);

/** Redis rejects a time of zero. */
const milliseconds = (ttlSeconds: number): number => Math.max(1, Math.ceil(ttlSeconds * 1000));

/** Returns the used part of the limit of each group of owners, and of the memory of Redis. */
async function readFullness(client: Parameters<Parameters<RedisClient["run"]>[0]>[0], maxEntries: number) {
  const count = (group: OwnerGroup): Promise<number> =>
    client.zCard(`${PREFIX}owned:${group}`).then((reply) => readReply(INTEGER, reply));
  // The Redis user may not be permitted to run INFO.
  const memory = client
    .info()
    .catch(() => "")
    .then((reply) => readReply(TEXT, reply));
  const [info, application, personal] = await Promise.all([memory, count("application"), count("personal")]);
  return {
    application: application / maxEntries,
    personal: personal / maxEntries,
    rest: memoryUse(info),
  };
}

/**
 * Creates the store that keeps state in Redis, for all replicas, by the clock of Redis. Each owner has a limited share.
 * The total is limited by `maxmemory` of Redis with the policy `noeviction`: other policies could drop requested scopes
 * (see docs/guide/run-in-production.md).
 *
 * @param maxEntries Maximum number of values of all owners of a group.
 */
export function createRedisStore(redis: RedisClient, maxEntries = GROUP_ENTRIES): KeyValueStore {
  async function run<T>(command: Parameters<typeof redis.run<T>>[0]): Promise<T> {
    try {
      return await redis.run(command);
    } catch (error) {
      throw new StateUnavailableError(`The state store failed: ${errorText(error)}`);
    }
  }
  /** Runs a script, and reads its reply. */
  const runScript = <T>(
    text: string,
    type: z.ZodType<T>,
    key: string,
    ...args: readonly string[]
  ): Promise<T> =>
    run(async (client) =>
      readReply(type, await client.eval(text, { keys: [PREFIX + key], arguments: [...args] })),
    );

  const boundsOf = ({ group, id, share }: Owner) => [`${group}:${id}`, String(share), String(maxEntries)];

  return {
    async get(key) {
      const stored = await run(async (client) => readReply(TEXT.nullable(), await client.get(PREFIX + key)));
      return stored === null ? undefined : valueOf(stored);
    },
    add: (key, value, ttl, owner) =>
      runScript(ADD_ENTRY, ROOM, key, ...boundsOf(owner), value, String(milliseconds(ttl))),
    room: (owner, entries) => runScript(FIND_ROOM, ROOM, "", ...boundsOf(owner), String(entries)),
    async set(key, value, ttl) {
      await run((client) =>
        client.set(PREFIX + key, value, { expiration: { type: "PX", value: milliseconds(ttl) } }),
      );
    },
    async setIfAbsent(key, value, ttl) {
      const expiration = { type: "PX", value: milliseconds(ttl) } as const;
      return (
        (await run((client) => client.set(PREFIX + key, value, { expiration, condition: "NX" }))) === "OK"
      );
    },
    replace: async (key, expected, value, ttl) =>
      (await runScript(REPLACE, INTEGER, key, expected, value, String(milliseconds(ttl)))) === 1,
    async delete(key) {
      await runScript(DELETE, INTEGER, key);
    },
    async deleteIf(key, expected) {
      await runScript(DELETE, INTEGER, key, expected);
    },
    addToSet: async (key, member, ttl, maxMembers = Number.MAX_SAFE_INTEGER) =>
      (await runScript(ADD_MEMBER, INTEGER, key, member, String(milliseconds(ttl)), String(maxMembers))) ===
      1,
    async deleteAll(keys) {
      if (keys.length > 0) await run((client) => client.unlink(keys.map((key) => PREFIX + key)));
    },
    setMembers: (key) => runScript(MEMBERS, TEXTS, key),
    fault: () => (redis.isReady() ? undefined : NOT_WRITABLE),
    fullness: () => run((client) => readFullness(client, maxEntries)),
    // Other code also uses the connection.
    close: async () => {},
  };
}
