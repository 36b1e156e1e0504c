import type { DatabaseSync } from "node:sqlite";

/**
 * Records of a block. Larger blocks take less time to write, and more to read: a filtered page reads a whole block for each
 * of its records if they are rare.
 */
export const BLOCK_ROWS = 1024;

/**
 * The records of one UTC day have tables of their own, so that a day is deleted by dropping them. The names of the tables
 * end with the day.
 *
 * - `text_DAY`: texts that many records have, each stored once.
 * - `record_DAY`: a small row for each record, with the columns that queries need, and `start` and `size` of its text in the
 *   decompressed segment.
 * - `segment_DAY`: the texts of the records `seq` to `last`, compressed. `bytes` is the size of `data`.
 * - `owner_DAY`: the segments of clients whose tokens v4 has accepted, by their owner (`size-limit.ts`).
 * - `block_DAY`: which records are in which block (`blocks`).
 */
const tables = (day: string): string => `
  CREATE TABLE text_${day} (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE record_${day} (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    client INTEGER,
    sender INTEGER,
    route INTEGER,
    status INTEGER NOT NULL,
    lane TEXT NOT NULL,
    method TEXT NOT NULL,
    request_id TEXT NOT NULL,
    agent INTEGER,
    lossy INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    sent TEXT,
    lost TEXT,
    start INTEGER NOT NULL,
    size INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX record_${day}_time ON record_${day} (time);
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
  CREATE TABLE owner_${day} (
    owner TEXT NOT NULL,
    bare INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (owner, bare, seq)
  ) STRICT, WITHOUT ROWID;
  ${ownerIndex(day)}
  ${blocks(day)}
`;

const ownerIndex = (day: string): string => `CREATE INDEX owner_${day}_seq ON owner_${day} (seq);`;

/** The client in the row of a block that is about all its records. */
export const ANY_CLIENT = 0;

/**
 * The index of filtered pages. A block is `BLOCK_ROWS` records by their numbers. It has a row about all its records, and one
 * about those of each client: the times of the first and the last, and `calls`, their routes and statuses as text
 * (` 7:200 7:404 n:200 `). A record without a route has route 0, and a forwarded one `n`. A label or an application
 * (`sender`) has rows like a client.
 *
 * An index of records would be changed at a random place by each record, and SQLite writes whole pages. A block is indexed
 * when the next one begins; the records of the last block are searched without an index.
 */
function blocks(day: string): string {
  return `
    CREATE TABLE block_${day} (
      client INTEGER NOT NULL,
      block INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      calls TEXT NOT NULL,
      PRIMARY KEY (client, block)
    ) STRICT, WITHOUT ROWID;
    ${blockTrigger(day)}
  `;
}

const blockTrigger = (day: string): string => `
  CREATE TRIGGER block_${day}_full AFTER INSERT ON record_${day} WHEN NEW.seq % ${BLOCK_ROWS} = 0 BEGIN
    ${indexBlocks(day, `seq >= NEW.seq - ${BLOCK_ROWS} AND seq < NEW.seq`)};
  END;
`;

/**
 * Adds the columns of version 2 to the tables of all days, for a step of the schema. Blocks that are indexed stay as they
 * are. It makes today's trigger: a later column that the trigger reads must be added here, and by its own step if missing.
 */
export function addSenders(database: DatabaseSync): void {
  for (const { suffix } of database.prepare(LIST_DAYS).all()) {
    const day = String(suffix);
    database.exec(
      `ALTER TABLE record_${day} ADD COLUMN sender INTEGER; ALTER TABLE record_${day} ADD COLUMN sent TEXT; DROP TRIGGER block_${day}_full; ${blockTrigger(day)}`,
    );
  }
}

/** Adds the column of version 3 to the tables of all days, for a step of the schema. */
export function addLost(database: DatabaseSync): void {
  for (const { suffix } of database.prepare(LIST_DAYS).all())
    database.exec(`ALTER TABLE record_${String(suffix)} ADD COLUMN lost TEXT`);
}

/** Adds the index of version 4 to the tables of all days, for a step of the schema. */
export function indexOwners(database: DatabaseSync): void {
  for (const { suffix } of database.prepare(LIST_DAYS).all()) database.exec(ownerIndex(String(suffix)));
}

/** Indexes whole blocks. @param range The condition of their records */
function indexBlocks(day: string, range: string): string {
  const rows = (client: string | number): string => `
    SELECT client, block, min(first) AS first, max(last) AS last, ' ' || group_concat(call, ' ') || ' ' AS calls
    FROM (
      SELECT ${client} AS client, seq / ${BLOCK_ROWS} AS block, 
        iif(lane = 'native', 'n', ifnull(route, 0)) || ':' || status AS call,
        min(time) AS first, max(time) AS last
      FROM record_${day} NOT INDEXED WHERE ${range} AND ${client} IS NOT NULL GROUP BY 1, 2, 3
    ) GROUP BY 1, 2
  `;
  return `
    INSERT INTO block_${day} SELECT * FROM (${rows(ANY_CLIENT)} UNION ALL ${rows("client")} UNION ALL ${rows("sender")}) WHERE true
    ON CONFLICT DO UPDATE SET first = excluded.first, last = excluded.last, calls = excluded.calls
  `;
}

/** The text in `calls` of the blocks that have records with these filters. */
export function callText(route: number | undefined, status: number | undefined): string {
  return `${route === undefined ? "" : ` ${route}`}:${status === undefined ? "" : `${status} `}`;
}

/** The pattern of `calls` of the blocks that have records of a lane. Forwarded records had route 0 in older versions. */
export const LANE_PATTERNS = { alpha: "* [0-9]*", native: "* [n0]:*", legacy: "* [0-9]*" } as const;

/** The suffix of a day's tables, `20260301`. @param day `2026-03-01` */
export const suffixOf = (day: string): string => day.replaceAll(/\D/g, "");

/** Creates the tables of a day. */
export const createPartition = (database: DatabaseSync, suffix: string): void =>
  database.exec(tables(suffix));

/** Deletes a day, which takes as long as SQLite needs to free its pages. */
export const dropPartition = (database: DatabaseSync, suffix: string): void =>
  database.exec(
    ["record", "segment", "text", "block", "owner"]
      .map((table) => `DROP TABLE ${table}_${suffix}`)
      .join("; "),
  );

/** The suffixes of all days, the oldest first. */
export const LIST_DAYS = `
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
  const names = database.prepare(LIST_DAYS);
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
