import type { DatabaseSync } from "node:sqlite";
import { QUERY_FILTERS } from "../stored-row.ts";

/**
 * The records of one UTC day have tables of their own, so that a day is deleted by dropping them. The names of the tables
 * end with the day.
 *
 * - `text_DAY`: texts that many records have, each stored once.
 * - `record_DAY`: a small row for each record, with the columns that queries need, and `start` and `size` of its text in the
 *   decompressed segment.
 * - `segment_DAY`: the texts of the records `seq` to `last`, compressed. `bytes` is the size of `data`.
 */
const tables = (day: string): string => `
  CREATE TABLE text_${day} (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE record_${day} (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    client INTEGER,
    route INTEGER,
    status INTEGER NOT NULL,
    lane TEXT NOT NULL,
    method TEXT NOT NULL,
    request_id TEXT NOT NULL,
    agent INTEGER,
    lossy INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    start INTEGER NOT NULL,
    size INTEGER NOT NULL
  ) STRICT;
  ${QUERY_FILTERS.map(
    (columns) =>
      `CREATE INDEX ${["record", day, ...columns, "time"].join("_")} ON record_${day} (${[...columns, "time"].join(", ")});`,
  ).join("\n")}
  CREATE INDEX record_${day}_unaccepted ON record_${day} (client) WHERE accepted = 0 AND client IS NOT NULL;
  CREATE TABLE segment_${day} (
    seq INTEGER PRIMARY KEY,
    last INTEGER NOT NULL,
    time INTEGER NOT NULL,
    worth INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    data BLOB NOT NULL
  ) STRICT;
  CREATE INDEX segment_${day}_worth ON segment_${day} (worth, time, last, bytes);
`;

/** The suffix of a day's tables, `20260301`. @param day `2026-03-01` */
export const suffixOf = (day: string): string => day.replaceAll(/\D/g, "");

/** Creates the tables of a day. */
export const createPartition = (database: DatabaseSync, suffix: string): void =>
  database.exec(tables(suffix));

/** Deletes a day, which takes as long as SQLite needs to free its pages. */
export const dropPartition = (database: DatabaseSync, suffix: string): void =>
  database.exec(`DROP TABLE record_${suffix}; DROP TABLE segment_${suffix}; DROP TABLE text_${suffix}`);

const LIST = `
  SELECT substr(name, 8) AS suffix FROM sqlite_schema WHERE type = 'table' AND name GLOB 'record_[0-9]*' ORDER BY 1
`;

/** A cache of what depends on the tables of days, which another process may create or drop. */
export interface Partitions<T> {
  /** The suffixes of all days, the oldest first. Call it first in each transaction: it notices changes of the tables. */
  readonly list: () => readonly string[];
  /** What was made for a day. */
  readonly get: (suffix: string) => T;
}

/** Creates the cache. @param make Prepares the statements of a day. */
export function createPartitions<T>(database: DatabaseSync, make: (suffix: string) => T): Partitions<T> {
  const version = database.prepare("PRAGMA schema_version");
  const names = database.prepare(LIST);
  let seen: unknown;
  let suffixes: readonly string[] = [];
  const values = new Map<string, T>();

  return {
    list() {
      const current = version.get()?.["schema_version"];
      if (current !== seen) {
        seen = current;
        suffixes = names.all().map(({ suffix }) => String(suffix));
        values.clear();
      }
      return suffixes;
    },
    get(suffix) {
      const existing = values.get(suffix);
      if (existing !== undefined) return existing;
      const created = make(suffix);
      values.set(suffix, created);
      return created;
    },
  };
}
