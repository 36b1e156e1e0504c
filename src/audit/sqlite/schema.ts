import type { DatabaseSync } from "node:sqlite";
import { WORTH } from "../stored-row.ts";
import { indexByBlocks, LIST_UNINDEXED_DAYS } from "./partition.ts";

const VERSION = 5;

/** Counts of requests. The records are in the tables of their days (`partition.ts`). */
const USAGE = `
  CREATE TABLE IF NOT EXISTS usage (
    day TEXT NOT NULL,
    client TEXT NOT NULL,
    lane TEXT NOT NULL,
    route TEXT NOT NULL,
    status INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    lossy INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    sample TEXT NOT NULL,
    agent TEXT,
    PRIMARY KEY (day, client, lane, route, status)
  ) STRICT, WITHOUT ROWID;
`;

/** Version 1 had no sequence numbers and no summaries. */
const FROM_VERSION_1 = `
  ALTER TABLE audit RENAME TO audit_1;
  DROP INDEX IF EXISTS audit_time;
  CREATE TABLE audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_time ON audit (time);
  INSERT INTO audit (id, time, record) SELECT id, ${millis("time")}, record FROM audit_1 ORDER BY id;
  ${USAGE}
  INSERT INTO usage
    SELECT substr(time, 1, 10), ifnull(client, ''), record ->> '$.lane', ifnull(route, ''), status,
      count(*), sum(json_array_length(record, '$.losses') > 0), ${millis("min(time)")},
      ${millis("max(time)")}, max(id), record ->> '$.client.userAgent'
    FROM audit_1 GROUP BY 1, 2, 3, 4, 5;
  DROP TABLE audit_1;
`;

/** Version 2 had no priorities of records. */
const WORTH_OF_VERSION_3 = `ALTER TABLE audit ADD COLUMN worth INTEGER NOT NULL DEFAULT ${WORTH.accepted};`;

/** The migration from each version to the current one. The table `audit` remains until `migrate.ts` has emptied it. */
const STEPS: readonly string[] = [
  USAGE,
  FROM_VERSION_1 + WORTH_OF_VERSION_3,
  WORTH_OF_VERSION_3,
  // The index on the time remains: the migration reads the oldest records first.
  "DROP INDEX IF EXISTS audit_least; DROP INDEX IF EXISTS audit_unaccepted;",
  // Only the days have changed since version 4.
  "",
];

function millis(time: string): string {
  return `CAST(round(unixepoch(${time}, 'subsec') * 1000) AS INTEGER)`;
}

/**
 * Creates the tables or migrates older ones, in one transaction. Processes that start at the same time do this one after the
 * other.
 *
 * @throws {Error} If a newer version has written the file.
 */
export function prepareSchema(database: DatabaseSync): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
    if (version > VERSION) throw new Error(`a newer version has written it (${version} > ${VERSION})`);
    if (version < VERSION) database.exec(`${STEPS[version] ?? ""}; PRAGMA user_version = ${VERSION}`);
    // Also in the current version: a process of version 4 that still runs creates its days as before.
    for (const { suffix } of database.prepare(LIST_UNINDEXED_DAYS).all())
      indexByBlocks(database, String(suffix));
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
