import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { makeFolder } from "./make-folder.ts";

export const STATE_FILE = "state.db";

const VERSION = 1;

const TABLES = `
  CREATE TABLE IF NOT EXISTS entry (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, ends INTEGER NOT NULL, owner TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS member (
    key TEXT, member TEXT, ends INTEGER NOT NULL, PRIMARY KEY (key, member)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS entry_ends ON entry (ends);
  CREATE INDEX IF NOT EXISTS member_ends ON member (ends);
  PRAGMA user_version = ${VERSION};
`;

/** An owner is `group:id`. Counting the entries at each write would take milliseconds for a large owner. */
const COUNTS = `
  CREATE TABLE IF NOT EXISTS share (owner TEXT PRIMARY KEY, entries INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TRIGGER IF NOT EXISTS entry_added AFTER INSERT ON entry WHEN new.owner IS NOT NULL BEGIN
    INSERT INTO share VALUES (new.owner, 1) ON CONFLICT DO UPDATE SET entries = entries + 1;
    INSERT INTO share VALUES (substr(new.owner, 1, instr(new.owner, ':')), 1)
      ON CONFLICT DO UPDATE SET entries = entries + 1;
  END;
  CREATE TRIGGER IF NOT EXISTS entry_deleted AFTER DELETE ON entry WHEN old.owner IS NOT NULL BEGIN
    UPDATE share SET entries = entries - 1
      WHERE owner IN (old.owner, substr(old.owner, 1, instr(old.owner, ':')));
    DELETE FROM share WHERE owner = old.owner AND entries <= 0;
  END;
`;

/** A version without owners may have written meanwhile: its statements fire no trigger where they replace a row. */
const RECOUNT = `
  DELETE FROM share;
  INSERT INTO share SELECT owner, count(*) FROM entry WHERE owner IS NOT NULL GROUP BY owner;
  INSERT INTO share SELECT substr(owner, 1, instr(owner, ':')), sum(entries) FROM share GROUP BY 1;
`;

/** Adds what earlier versions did not have. They can still use the file. */
function prepareSchema(database: DatabaseSync): void {
  database.exec(`BEGIN IMMEDIATE; ${TABLES}`);
  const hasOwner = database.prepare("SELECT 1 FROM pragma_table_info('entry') WHERE name = 'owner'").get();
  if (!hasOwner) database.exec("ALTER TABLE entry ADD COLUMN owner TEXT");
  database.exec(`${COUNTS} ${RECOUNT} COMMIT`);
}

/** @throws {Error} if the file is not a database, is damaged, or was written by a newer version. */
export function openStateDatabase(directory: string): DatabaseSync {
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
    prepareSchema(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
