import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "./make-folder.ts";
import { DatabaseSync } from "node:sqlite";
import { StateUnavailableError, type KeyValueStore } from "./key-value-store.ts";

export const STATE_FILE = "state.db";

export interface SqliteStoreOptions {
  readonly directory: string;
  /** Bound of the values. Default 100 000. */
  readonly maxEntries?: number;
  /** Bound of the members of all sets. Default 500 000, some 100 MB. */
  readonly maxMembers?: number;
}

const VERSION = 1;
const MAX_ENTRIES = 100_000;
const MAX_MEMBERS = 500_000;
/** A member whose time would grow by less than this is not written again: each write waits for the disk. */
const EXTENSION_MS = 60_000;
const SWEEP_MS = 60_000;

/** Key of an entry that has expired when it is written. */
const PROBE = "probe";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, value TEXT NOT NULL, ends INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS member (
    key TEXT, member TEXT, ends INTEGER NOT NULL, PRIMARY KEY (key, member)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS entry_ends ON entry (ends);
  CREATE INDEX IF NOT EXISTS member_ends ON member (ends);
  PRAGMA user_version = ${VERSION};
`;

/** @throws {Error} if the file is not a database, is damaged, or was written by a newer version. */
function openDatabase(directory: string): DatabaseSync {
  makeFolder(directory);
  const file = join(directory, STATE_FILE);
  // SQLite creates its other files with the mode of the database.
  closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file);
  try {
    // FULL: a refresh token can be used once, and its replacement must survive a power failure.
    database.exec("PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    const damage = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    if (damage !== "ok") throw new Error(`it is damaged: ${String(damage)}`);
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version > VERSION) throw new Error(`it was written by a newer version (${version} > ${VERSION})`);
    database.exec(`BEGIN IMMEDIATE; ${SCHEMA} COMMIT`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepare(database: DatabaseSync) {
  const both = (sql: (table: string) => string) =>
    ["entry", "member"].map((table) => database.prepare(sql(table)));
  return {
    get: database.prepare("SELECT value FROM entry WHERE key = ? AND ends > ?"),
    set: database.prepare("INSERT OR REPLACE INTO entry (key, value, ends) VALUES (?, ?, ?)"),
    setIfAbsent: database.prepare(
      `INSERT INTO entry (key, value, ends) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends WHERE ends <= ?`,
    ),
    replace: database.prepare(
      "UPDATE entry SET value = ?, ends = ? WHERE key = ? AND value = ? AND ends > ?",
    ),
    delete: both((table) => `DELETE FROM ${table} WHERE key = ?`),
    deleteIf: database.prepare("DELETE FROM entry WHERE key = ? AND value = ?"),
    // A member that has expired and was not deleted yet can be added again.
    addToSet: database.prepare(
      `INSERT INTO member (key, member, ends) SELECT :key, :member, :ends
       WHERE EXISTS (SELECT 1 FROM member WHERE key = :key AND member = :member)
       OR (SELECT count(*) FROM (SELECT 1 FROM member WHERE key = :key AND ends > :now LIMIT :most)) < :most
       ON CONFLICT DO UPDATE SET ends = excluded.ends`,
    ),
    hasMember: database.prepare("SELECT 1 FROM member WHERE key = ? AND member = ? AND ends > ?"),
    countMembers: database.prepare("SELECT count(*) AS members FROM member"),
    setMembers: database.prepare("SELECT member FROM member WHERE key = ? AND ends > ?"),
    deleteExpired: both((table) => `DELETE FROM ${table} WHERE ends <= ?`),
    // Finds the first entry beyond the bound by its expiry; all that expire at the same time are deleted.
    evictOldest: database.prepare(
      "DELETE FROM entry WHERE ends <= (SELECT ends FROM entry ORDER BY ends DESC LIMIT 1 OFFSET ?)",
    ),
  };
}

/**
 * Opens the store that keeps state in the data folder. Several processes of one machine may open the same. It is
 * synchronous: a read takes microseconds, and writes are as rare as token exchanges.
 *
 * @throws {StateUnavailableError} if the file can't be used. It is never overwritten.
 */
export function openSqliteKeyValueStore({
  directory,
  maxEntries = MAX_ENTRIES,
  maxMembers = MAX_MEMBERS,
}: SqliteStoreOptions): KeyValueStore {
  let database: DatabaseSync;
  try {
    database = openDatabase(directory);
  } catch (error) {
    const file = join(directory, STATE_FILE);
    throw new StateUnavailableError(
      `The state store ${file} cannot be used: ${(error as Error).message}. ` +
        "Repair it, or move it away to start without its tokens (clients then have to sign in again).",
    );
  }
  const statements = prepare(database);
  const sweepAfter = Math.ceil(maxEntries / 100);
  let writes = 0;
  let isHealthy = true;
  /** Updated by each sweep, not by each write: the bound may be exceeded between two sweeps. */
  let isFull = false;

  function sweep(): void {
    writes = 0;
    for (const statement of statements.deleteExpired) statement.run(Date.now());
    statements.evictOldest.run(maxEntries);
    isFull = Number(statements.countMembers.get()?.["members"]) >= maxMembers;
  }

  async function run<T>(work: (now: number) => T): Promise<T> {
    try {
      return work(Date.now());
    } catch (error) {
      isHealthy = false;
      throw new StateUnavailableError(`The state store failed: ${(error as Error).message}`);
    }
  }

  async function write<T>(work: (now: number) => T): Promise<T> {
    const result = await run(work);
    writes += 1;
    if (writes >= sweepAfter) await run(sweep).catch(() => {});
    return result;
  }

  /** A full disk can be read. Only a write shows that it has space again, and the next one may be hours away. */
  function probe(): boolean {
    try {
      statements.set.run(PROBE, "", Date.now());
      isHealthy = true;
    } catch {
      // It still fails.
    }
    return isHealthy;
  }

  sweep();
  const timer = setInterval(() => void run(sweep).catch(() => {}), SWEEP_MS).unref();
  const expiry = (now: number, ttlSeconds: number): number => now + Math.ceil(ttlSeconds * 1000);

  return {
    get: (key) =>
      run((now) => {
        const value = statements.get.get(key, now)?.["value"];
        return value === undefined ? undefined : String(value);
      }),
    set: (key, value, ttl) => write((now) => void statements.set.run(key, value, expiry(now, ttl))),
    setIfAbsent: (key, value, ttl) =>
      write((now) => statements.setIfAbsent.run(key, value, expiry(now, ttl), now).changes === 1),
    replace: (key, expected, value, ttl) =>
      write((now) => statements.replace.run(value, expiry(now, ttl), key, expected, now).changes === 1),
    delete: (key) =>
      write(() => {
        for (const statement of statements.delete) statement.run(key);
      }),
    deleteIf: (key, expected) => write(() => void statements.deleteIf.run(key, expected)),
    async addToSet(key, member, ttl, most = Number.MAX_SAFE_INTEGER, isReserved = false) {
      const hasTime = (now: number): boolean =>
        statements.hasMember.get(key, member, Math.max(now, expiry(now, ttl) - EXTENSION_MS)) !== undefined;
      if (await run(hasTime)) return true;
      return write((now) => {
        const added = { key, member, ends: expiry(now, ttl), now, most: isFull && !isReserved ? 0 : most };
        return statements.addToSet.run(added).changes === 1;
      });
    },
    setMembers: (key) =>
      run((now) => statements.setMembers.all(key, now).map(({ member }) => String(member))),
    isReady: () => isHealthy || probe(),
    async close() {
      clearInterval(timer);
      if (database.isOpen) database.close();
    },
  };
}
