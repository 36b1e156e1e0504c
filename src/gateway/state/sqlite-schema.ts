import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  errorText,
  makeFolder,
  migrateSqlite,
  type SqliteSchema,
  StateUnavailableError,
} from "../../base/index.ts";

export const STATE_FILE = "state.db";

/**
 * An owner is `group:id`. The number of its entries is stored, because counting at each write would take milliseconds
 * for a large owner.
 */
const VERSION_1 = `
  CREATE TABLE entry (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, ends INTEGER NOT NULL, owner TEXT
  ) STRICT;
  CREATE TABLE member (
    key TEXT, member TEXT, ends INTEGER NOT NULL, PRIMARY KEY (key, member)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX entry_ends ON entry (ends);
  CREATE INDEX member_ends ON member (ends);
  CREATE TABLE share (owner TEXT PRIMARY KEY, entries INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TRIGGER entry_added AFTER INSERT ON entry WHEN new.owner IS NOT NULL BEGIN
    INSERT INTO share VALUES (new.owner, 1) ON CONFLICT DO UPDATE SET entries = entries + 1;
    INSERT INTO share VALUES (substr(new.owner, 1, instr(new.owner, ':')), 1)
      ON CONFLICT DO UPDATE SET entries = entries + 1;
  END;
  CREATE TRIGGER entry_deleted AFTER DELETE ON entry WHEN old.owner IS NOT NULL BEGIN
    UPDATE share SET entries = entries - 1
      WHERE owner IN (old.owner, substr(old.owner, 1, instr(old.owner, ':')));
    DELETE FROM share WHERE owner = old.owner AND entries <= 0;
  END;
`;

/** "agst" in ASCII. `schema.ts` explains how to add a step. */
const SCHEMA: SqliteSchema = { applicationId: 0x61677374, steps: [VERSION_1] };

/**
 * Opens the state store's database.
 *
 * @throws {StateUnavailableError} if the file is not a database of this store, is damaged, or was written by a newer version.
 */
export function openStateDatabase(directory: string): DatabaseSync {
  const file = join(directory, STATE_FILE);
  let database: DatabaseSync | undefined;
  try {
    makeFolder(directory);
    // SQLite creates its other files with the mode of the database.
    closeSync(openSync(file, "a", 0o600));
    database = new DatabaseSync(file);
    // FULL: a refresh token can be used once, and its replacement must survive a power failure.
    database.exec("PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    // Expired rows are overwritten, because a client may have asked to delete its data.
    database.exec("PRAGMA secure_delete = ON");
    const damage = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    if (damage !== "ok") throw new Error(`it is damaged: ${String(damage)}`);
    migrateSqlite(database, SCHEMA);
    return database;
  } catch (error) {
    database?.close();
    throw new StateUnavailableError(
      `The state store ${file} can't be used: ${errorText(error)}. ` +
        "Repair it, or move it away to start without its tokens (clients then have to sign in again).",
    );
  }
}
