import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "./make-folder.ts";
import { DatabaseSync } from "node:sqlite";
import { StateUnavailableError, type KeyValueStore } from "./key-value-store.ts";

export const STATE_FILE = "state.db";

export interface SqliteStoreOptions {
  readonly directory: string;
  /** Values and members kept, each. Default 100 000. */
  readonly most?: number;
}

const VERSION = 1;
const MOST = 100_000;
const SWEEP_MS = 60_000;

/** Key of an entry that has ended when it is written. */
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

/** @throws {Error} where the file is no database, is damaged, or was written by a newer version. */
function openDatabase(directory: string): DatabaseSync {
  makeFolder(directory);
  const file = join(directory, STATE_FILE);
  // SQLite gives its side files the mode of the database.
  closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file);
  try {
    // Full: a refresh token is good for one use, and the one that replaced it must not be lost with the power.
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
    // The place of a member that has ended and was not swept yet is its own still.
    addTo: database.prepare(
      `INSERT INTO member (key, member, ends) SELECT :key, :member, :ends
       WHERE EXISTS (SELECT 1 FROM member WHERE key = :key AND member = :member)
       OR (SELECT count(*) FROM (SELECT 1 FROM member WHERE key = :key AND ends > :now LIMIT :most)) < :most
       ON CONFLICT DO UPDATE SET ends = excluded.ends`,
    ),
    members: database.prepare("SELECT count(*) AS members FROM member"),
    membersOf: database.prepare("SELECT member FROM member WHERE key = ? AND ends > ?"),
    dropEnded: both((table) => `DELETE FROM ${table} WHERE ends <= ?`),
    // The first key that does not fit any more, told by its end; of several that end together all go.
    dropFirst: database.prepare(
      "DELETE FROM entry WHERE ends <= (SELECT ends FROM entry ORDER BY ends DESC LIMIT 1 OFFSET ?)",
    ),
  };
}

/**
 * Keeps state in the data folder; several processes of one machine may open the same. Calls are answered at once:
 * a read takes microseconds, and writes are as rare as the exchanges of tokens.
 *
 * @throws {StateUnavailableError} where the file can't be used; it is never overwritten.
 */
export function openSqliteStore({ directory, most = MOST }: SqliteStoreOptions): KeyValueStore {
  let database: DatabaseSync;
  try {
    database = openDatabase(directory);
  } catch (error) {
    const file = join(directory, STATE_FILE);
    throw new StateUnavailableError(
      `The state store ${file} cannot be used: ${(error as Error).message}. ` +
        "Mend it, or move it away to start without the grants in it (its clients have to sign in again).",
    );
  }
  const statements = prepare(database);
  const sweepAfter = Math.ceil(most / 100);
  let writes = 0;
  let healthy = true;
  /** Counted when it is swept, not for each member: it may be exceeded by what is written in between. */
  let full = false;

  function sweep(): void {
    writes = 0;
    for (const statement of statements.dropEnded) statement.run(Date.now());
    statements.dropFirst.run(most);
    full = Number(statements.members.get()?.["members"]) >= most;
  }

  async function guarded<T>(work: (now: number) => T): Promise<T> {
    try {
      return work(Date.now());
    } catch (error) {
      healthy = false;
      throw new StateUnavailableError(`The state store does not work: ${(error as Error).message}`);
    }
  }

  async function written<T>(work: (now: number) => T): Promise<T> {
    const result = await guarded(work);
    writes += 1;
    if (writes >= sweepAfter) await guarded(sweep).catch(() => {});
    return result;
  }

  /** A full disk can be read. Nothing but a write tells that it has space again, and another may be hours away. */
  function worksAgain(): boolean {
    try {
      statements.set.run(PROBE, "", Date.now());
      healthy = true;
    } catch {
      // It doesn't.
    }
    return healthy;
  }

  sweep();
  const timer = setInterval(() => void guarded(sweep).catch(() => {}), SWEEP_MS).unref();
  const end = (now: number, ttlSeconds: number): number => now + Math.ceil(ttlSeconds * 1000);

  return {
    get: (key) =>
      guarded((now) => {
        const value = statements.get.get(key, now)?.["value"];
        return value === undefined ? undefined : String(value);
      }),
    set: (key, value, ttl) => written((now) => void statements.set.run(key, value, end(now, ttl))),
    setIfAbsent: (key, value, ttl) =>
      written((now) => statements.setIfAbsent.run(key, value, end(now, ttl), now).changes === 1),
    replace: (key, expected, value, ttl) =>
      written((now) => statements.replace.run(value, end(now, ttl), key, expected, now).changes === 1),
    delete: (key) =>
      written(() => {
        for (const statement of statements.delete) statement.run(key);
      }),
    deleteIf: (key, expected) => written(() => void statements.deleteIf.run(key, expected)),
    addToSet: (key, member, ttl, most = Number.MAX_SAFE_INTEGER) =>
      written((now) => {
        const added = { key, member, ends: end(now, ttl), now, most: full ? 0 : most };
        return statements.addTo.run(added).changes === 1;
      }),
    setMembers: (key) =>
      guarded((now) => statements.membersOf.all(key, now).map(({ member }) => String(member))),
    ready: () => healthy || worksAgain(),
    async close() {
      clearInterval(timer);
      if (database.isOpen) database.close();
    },
  };
}
