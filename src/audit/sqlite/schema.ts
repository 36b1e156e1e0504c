import type { DatabaseSync } from "node:sqlite";
import { WORTH, QUERY_FILTERS } from "../stored-row.ts";

const VERSION = 3;

/** `time` is the last column of each index, so that every page is one range of an index. */
const INDEXES = QUERY_FILTERS.map(
  (columns) =>
    `CREATE INDEX IF NOT EXISTS ${["audit", ...columns, "by_time"].join("_")} ON audit (${[...columns, "time"].join(", ")});`,
).join("\n");

/** Columns for the summaries. They are null if the record was counted for its client when it was written. */
const COUNTED_LATER = ["lane TEXT", "agent TEXT", "lossy INTEGER"];

/** Indexes of the records of unaccepted tokens: for their deletion, and for moving them to a client. */
const UNACCEPTED_INDEXES = `
  CREATE INDEX IF NOT EXISTS audit_least ON audit (worth, time) WHERE worth < ${WORTH.accepted};
  CREATE INDEX IF NOT EXISTS audit_unaccepted ON audit (client)
    WHERE worth < ${WORTH.accepted} AND client IS NOT NULL;
`;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS audit (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    client TEXT,
    route TEXT,
    status INTEGER NOT NULL,
    record TEXT NOT NULL,
    worth INTEGER NOT NULL DEFAULT ${WORTH.accepted},
    ${COUNTED_LATER.join(", ")}
  ) STRICT;
  ${INDEXES}
  ${UNACCEPTED_INDEXES}
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
  PRAGMA user_version = ${VERSION};
`;

/** Version 1 had no sequence numbers and no summaries. */
const FROM_VERSION_1 = `
  ALTER TABLE audit RENAME TO audit_1;
  ${SCHEMA}
  INSERT INTO audit (id, time, client, route, status, record)
    SELECT id, ${millis("time")}, client, route, status, record FROM audit_1 ORDER BY id;
  INSERT INTO usage
    SELECT substr(time, 1, 10), ifnull(client, ''), record ->> '$.lane', ifnull(route, ''), status,
      count(*), sum(json_array_length(record, '$.losses') > 0), ${millis("min(time)")},
      ${millis("max(time)")}, max(id), record ->> '$.client.userAgent'
    FROM audit_1 GROUP BY 1, 2, 3, 4, 5;
  DROP TABLE audit_1;
`;

/** Version 2 had no priorities of records. */
const FROM_VERSION_2 = `
  ALTER TABLE audit ADD COLUMN worth INTEGER NOT NULL DEFAULT ${WORTH.accepted};
  ${COUNTED_LATER.map((column) => `ALTER TABLE audit ADD COLUMN ${column};`).join("")}
  ${UNACCEPTED_INDEXES}
  PRAGMA user_version = ${VERSION};
`;

/** The migration from each version to the current one. */
const STEPS: readonly string[] = [SCHEMA, FROM_VERSION_1, FROM_VERSION_2];

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
    database.exec(STEPS[version] ?? "");
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}
