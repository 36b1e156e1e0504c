import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import {
  errorText,
  GROUP_ENTRIES,
  holdFile,
  NOT_WRITABLE,
  StateUnavailableError,
  type KeyValueStore,
  type Owner,
  type OwnerGroup,
  type Room,
} from "../../base/index.ts";
import { openStateDatabase, STATE_FILE } from "./sqlite-schema.ts";

export interface SqliteStoreOptions {
  readonly directory: string;
  /** Maximum number of values of all owners of a group. Default {@link GROUP_ENTRIES}. */
  readonly maxEntries?: number;
  /** Maximum number of members of all sets. Default 500 000, about 100 MB. */
  readonly maxMembers?: number;
  /** Called once if the file is lost, with the reason. */
  readonly onLost?: (reason: string) => void;
}

const MAX_MEMBERS = 500_000;
/**
 * Minimum extension of a member's expiry in milliseconds: smaller ones are not written, because each write waits for
 * the disk.
 */
const EXTENSION_MS = 60_000;
const SWEEP_MS = 60_000;
/**
 * Number of writes between two sweeps, and of rows of a table that one sweep deletes, so that it does not block the
 * event loop.
 */
const SWEEP_AFTER = 1000;
const SWEEP_ROWS = 1000;
/** Minimum time between two probes, because a probe waits for the disk and `/readyz` is unauthenticated. */
const PROBE_MS = 1000;

/** Key of an entry that is already expired when it is written. */
const PROBE = "probe";

function prepare(database: DatabaseSync) {
  const both = (sql: (table: string) => string) =>
    ["entry", "member"].map((table) => database.prepare(sql(table)));
  return {
    get: database.prepare("SELECT value FROM entry WHERE key = ? AND ends > ?"),
    set: database.prepare(
      `INSERT INTO entry (key, value, ends) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value, ends = excluded.ends`,
    ),
    has: database.prepare("SELECT 1 FROM entry WHERE key = ?"),
    add: database.prepare(
      `INSERT INTO entry (key, value, ends, owner) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET value = excluded.value, ends = excluded.ends`,
    ),
    countEntries: database.prepare("SELECT entries FROM share WHERE owner = ?"),
    setIfAbsent: database.prepare(
      `INSERT INTO entry (key, value, ends) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, ends = excluded.ends WHERE ends <= ?`,
    ),
    replace: database.prepare(
      "UPDATE entry SET value = ?, ends = ? WHERE key = ? AND value = ? AND ends > ?",
    ),
    delete: both((table) => `DELETE FROM ${table} WHERE key = ?`),
    deleteIf: database.prepare("DELETE FROM entry WHERE key = ? AND value = ?"),
    // A member that has expired, but was not deleted yet, can be added again.
    addToSet: database.prepare(
      `INSERT INTO member (key, member, ends) SELECT :key, :member, :ends
       WHERE EXISTS (SELECT 1 FROM member WHERE key = :key AND member = :member)
       OR (SELECT count(*) FROM (SELECT 1 FROM member WHERE key = :key AND ends > :now LIMIT :most)) < :most
       ON CONFLICT DO UPDATE SET ends = excluded.ends`,
    ),
    hasMember: database.prepare("SELECT 1 FROM member WHERE key = ? AND member = ? AND ends > ?"),
    countMembers: database.prepare("SELECT count(*) AS members FROM member"),
    setMembers: database.prepare("SELECT member FROM member WHERE key = ? AND ends > ?"),
    deleteExpired: [
      "DELETE FROM entry WHERE key IN (SELECT key FROM entry WHERE ends <= ? LIMIT ?)",
      "DELETE FROM member WHERE (key, member) IN (SELECT key, member FROM member WHERE ends <= ? LIMIT ?)",
    ].map((sql) => database.prepare(sql)),
  };
}

/** The file of the store. Deletes expired entries, and detects the loss of the file. */
class StateFile {
  readonly statements: ReturnType<typeof prepare>;
  /** Number of members. Updated by each sweep, not by each write, so the limit may be exceeded between two sweeps. */
  members = 0;
  readonly #database: DatabaseSync;
  readonly #onLost: SqliteStoreOptions["onLost"];
  readonly #sweepAfter: number;
  readonly #lostFile: () => string | undefined;
  readonly #timer: NodeJS.Timeout;
  #writes = 0;
  #fault: string | undefined;
  #probedAt = -Infinity;

  constructor(directory: string, maxMembers: number, onLost: SqliteStoreOptions["onLost"]) {
    this.#database = openStateDatabase(directory);
    this.statements = prepare(this.#database);
    this.#onLost = onLost;
    this.#sweepAfter = Math.min(SWEEP_AFTER, Math.ceil(maxMembers / 100));
    this.sweep();
    this.#lostFile = holdFile(join(directory, STATE_FILE));
    this.#timer = setInterval(() => void this.#trySweep(), SWEEP_MS).unref();
  }

  sweep(): void {
    this.#writes = 0;
    const { deleteExpired, countMembers } = this.statements;
    const deleted = deleteExpired.map((statement) => statement.run(Date.now(), SWEEP_ROWS).changes);
    this.members = Number(countMembers.get()?.["members"]);
    if (deleted.includes(SWEEP_ROWS)) setImmediate(() => void this.#trySweep());
  }

  async #trySweep(): Promise<void> {
    await this.run(() => this.sweep()).catch(() => {});
  }

  async run<T>(work: (now: number) => T): Promise<T> {
    try {
      return work(Date.now());
    } catch (error) {
      this.#fault ??= NOT_WRITABLE;
      throw new StateUnavailableError(`The state store failed: ${errorText(error)}`);
    }
  }

  async write<T>(work: (now: number) => T): Promise<T> {
    const result = await this.run((now) => {
      const done = work(now);
      this.#checkFile();
      return done;
    });
    this.#writes += 1;
    if (this.#writes >= this.#sweepAfter) await this.#trySweep();
    return result;
  }

  /** Runs work in one transaction, which waits for the disk once. */
  inOneWrite<T>(work: () => T): T {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Checks the file. @throws {Error} if written data would be lost with this process */
  #checkFile(): void {
    const lost = this.#lostFile();
    if (lost === undefined) return;
    if (this.#fault !== lost) this.#onLost?.(lost);
    this.#fault = lost;
    throw new Error(lost);
  }

  /** A full disk, and a read-only disk, can be read: only a write shows that the store works. */
  fault(): string | undefined {
    const now = performance.now();
    if (now - this.#probedAt < PROBE_MS) return this.#fault;
    this.#probedAt = now;
    try {
      this.statements.set.run(PROBE, "", Date.now());
      this.#checkFile();
      this.#fault = undefined;
    } catch {
      this.#fault ??= NOT_WRITABLE;
    }
    return this.#fault;
  }

  countEntries(owner: string): number {
    return Number(this.statements.countEntries.get(owner)?.["entries"] ?? 0);
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#database.isOpen) this.#database.close();
  }
}

const expiry = (now: number, ttlSeconds: number): number => now + Math.ceil(ttlSeconds * 1000);

/**
 * Opens the store in the data folder. Several processes of one machine may open the same store. It is synchronous: a
 * read takes microseconds, and writes are as rare as token exchanges.
 *
 * @throws {StateUnavailableError} if the file can't be used. It is never overwritten.
 */
export function openSqliteKeyValueStore({
  directory,
  maxEntries = GROUP_ENTRIES,
  maxMembers = MAX_MEMBERS,
  onLost,
}: SqliteStoreOptions): KeyValueStore {
  const file = new StateFile(directory, maxMembers, onLost);
  const { statements } = file;

  function findRoom({ group, id, share }: Owner, entries: number): Room {
    if (file.countEntries(`${group}:${id}`) + entries > share) return "share used up";
    return file.countEntries(`${group}:`) + entries > maxEntries ? "store full" : "free";
  }

  /** Expired entries are counted until they are deleted: if an owner has no room, its expired entries are deleted first. */
  function roomOf(owner: Owner, entries: number): Room {
    if (findRoom(owner, entries) !== "free") file.sweep();
    return findRoom(owner, entries);
  }

  return {
    get: (key) =>
      file.run((now) => {
        const value = statements.get.get(key, now)?.["value"];
        return value === undefined ? undefined : String(value);
      }),
    set: (key, value, ttl) => file.write((now) => void statements.set.run(key, value, expiry(now, ttl))),
    add: (key, value, ttl, owner) =>
      file.write((now) =>
        file.inOneWrite(() => {
          const room = statements.has.get(key) ? "free" : roomOf(owner, 1);
          if (room === "free") statements.add.run(key, value, expiry(now, ttl), `${owner.group}:${owner.id}`);
          return room;
        }),
      ),
    room: (owner, entries) => file.run(() => roomOf(owner, entries)),
    setIfAbsent: (key, value, ttl) =>
      file.write((now) => statements.setIfAbsent.run(key, value, expiry(now, ttl), now).changes === 1),
    replace: (key, expected, value, ttl) =>
      file.write((now) => statements.replace.run(value, expiry(now, ttl), key, expected, now).changes === 1),
    delete: (key) =>
      file.write(() => {
        for (const statement of statements.delete) statement.run(key);
      }),
    deleteIf: (key, expected) => file.write(() => void statements.deleteIf.run(key, expected)),
    async addToSet(key, member, ttl, most = Number.MAX_SAFE_INTEGER, isReserved = false) {
      const hasTime = (now: number): boolean =>
        statements.hasMember.get(key, member, Math.max(now, expiry(now, ttl) - EXTENSION_MS)) !== undefined;
      if (await file.run(hasTime)) return true;
      return file.write((now) => {
        const allowed = file.members >= maxMembers && !isReserved ? 0 : most;
        const added = { key, member, ends: expiry(now, ttl), now, most: allowed };
        return statements.addToSet.run(added).changes === 1;
      });
    },
    deleteAll: (keys) =>
      file.write(() =>
        file.inOneWrite(() => {
          for (const key of keys) for (const statement of statements.delete) statement.run(key);
        }),
      ),
    setMembers: (key) =>
      file.run((now) => statements.setMembers.all(key, now).map(({ member }) => String(member))),
    fault: () => file.fault(),
    fullness: () =>
      file.run(() => {
        const part = (group: OwnerGroup): number => file.countEntries(`${group}:`) / maxEntries;
        const rest = Math.min(1, file.members / maxMembers);
        return { application: part("application"), personal: part("personal"), rest };
      }),
    close: async () => file.close(),
  };
}
