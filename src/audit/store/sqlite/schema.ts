import type { DatabaseSync } from "node:sqlite";
import type { SqliteSchema } from "../../../base/index.ts";
import { addLost, addSenders, indexOwners } from "./partition.ts";

/** Counts of requests. The records are in the tables of their days, which are created with the days (`partition.ts`). */
const VERSION_1 = `
  CREATE TABLE usage (
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

/**
 * `usage.client` is a key of `summary-key.ts`. `token` has a row for each token that v4 has accepted: its client, and its
 * last requests. `sent` has a bit for each name of `sent_names` that a client sent to a route on a day.
 */
const VERSION_2 = `
  CREATE INDEX usage_client ON usage (client, day);
  CREATE TABLE token (
    fingerprint TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    agent TEXT,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    last_alpha INTEGER NOT NULL,
    last_native INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    native INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX token_key ON token (key);
  INSERT INTO token
    SELECT client, client, substr(max(format('%015d%s', last, ifnull(agent, ''))), 16), min(first), max(last),
      max(iif(lane = 'alpha', last, 0)), max(iif(lane = 'native', last, 0)), sum(requests),
      sum(iif(lane = 'native', requests, 0))
    FROM usage WHERE client NOT IN ('', 'unaccepted') GROUP BY client;
  CREATE TABLE sent_names (
    pack TEXT NOT NULL,
    route TEXT NOT NULL,
    names TEXT NOT NULL,
    day TEXT NOT NULL,
    PRIMARY KEY (pack, route)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE sent (
    day TEXT NOT NULL,
    client TEXT NOT NULL,
    route TEXT NOT NULL,
    pack TEXT NOT NULL,
    bits BLOB NOT NULL,
    PRIMARY KEY (day, client, route, pack)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sent_client ON sent (client, day);
  CREATE TABLE erased (
    time INTEGER NOT NULL,
    command TEXT NOT NULL,
    client TEXT NOT NULL,
    records INTEGER NOT NULL,
    summaries INTEGER NOT NULL,
    tokens INTEGER NOT NULL
  ) STRICT;
`;

function migrateToVersion2(database: DatabaseSync): void {
  database.exec(VERSION_2);
  addSenders(database);
}

/** `loss` counts the requests that had a loss of `loss_names`. The indexes are for "who would notice", which reads few routes. */
const VERSION_3 = `
  CREATE TABLE loss_names (
    pack TEXT NOT NULL,
    route TEXT NOT NULL,
    names TEXT NOT NULL,
    day TEXT NOT NULL,
    PRIMARY KEY (pack, route)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE loss (
    day TEXT NOT NULL,
    client TEXT NOT NULL,
    route TEXT NOT NULL,
    pack TEXT NOT NULL,
    place INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (day, client, route, pack, place)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX loss_client ON loss (client, day);
  CREATE INDEX usage_route ON usage (route, client);
  CREATE INDEX sent_route ON sent (route, client);
`;

function migrateToVersion3(database: DatabaseSync): void {
  database.exec(VERSION_3);
  addLost(database);
}

/** Entries about erased clients have no client. */
const VERSION_5 = "ALTER TABLE erased DROP COLUMN client";

/** "agau" in ASCII. `storage/schema.ts` says how a step is added. */
export const SCHEMA: SqliteSchema = {
  applicationId: 0x61676175,
  steps: [VERSION_1, migrateToVersion2, migrateToVersion3, indexOwners, VERSION_5],
};
