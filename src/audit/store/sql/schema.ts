/** The tables of the audit store, in both databases. */

/**
 * - `audit` contains a small row for each record: the columns that queries need, and `start` and `size` of its text
 *   in its decompressed segment. Rows are numbered in the order of their commits, without gaps in a segment.
 * - `audit_segment`: the texts of the records `seq` to `last`, compressed. All belong to one day.
 * - `audit_block`: the clients whose records each block contains (`blocks.ts`).
 *
 * Days are numbers: days since 1970.
 */
const RECORDS = `
  CREATE TABLE audit (
    seq bigint PRIMARY KEY,
    id text NOT NULL UNIQUE,
    time bigint NOT NULL,
    client text,
    sender text,
    route text,
    status bigint NOT NULL,
    lane text NOT NULL,
    request_id text NOT NULL,
    agent text,
    lossy bigint NOT NULL,
    requests bigint NOT NULL,
    accepted bigint NOT NULL,
    sent text,
    lost text,
    segment bigint NOT NULL,
    start bigint NOT NULL,
    size bigint NOT NULL
  );
  CREATE INDEX audit_time ON audit (time, seq);
  CREATE INDEX audit_unaccepted ON audit (client) WHERE accepted = 0 AND client IS NOT NULL;
  CREATE TABLE audit_segment (
    seq bigint PRIMARY KEY,
    last bigint NOT NULL,
    time bigint NOT NULL,
    worth bigint NOT NULL,
    owner text NOT NULL,
    bare bigint NOT NULL,
    bytes bigint NOT NULL,
    data bytea NOT NULL
  );
  CREATE INDEX audit_segment_worth ON audit_segment (worth, time, seq, last, bytes);
  CREATE INDEX audit_segment_owner ON audit_segment (owner, bare, time, seq, last, bytes) WHERE worth = 2;
  CREATE TABLE audit_block (
    client text NOT NULL,
    block bigint NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    calls text NOT NULL,
    PRIMARY KEY (client, block)
  ) WITH (fillfactor = 50);
  CREATE INDEX audit_block_number ON audit_block (block);
`;

/**
 * - `audit_usage`: requests by day, client, lane, route and status. `client` is a key of `summary-key.ts`.
 * - `audit_agent`: the last user agent of each family that a client used on a day.
 * - `audit_token`: tokens that v4 has accepted, their clients, and their last requests.
 * - `audit_sent`: names that a client sent to a route. `audit_counted`: all names that were counted, and when.
 * - `audit_loss`: requests that had a loss. Its name is its severity and its text.
 *
 * The indexes by route are for the report "who would notice", which reads few routes.
 */
const SUMMARIES = `
  CREATE TABLE audit_usage (
    day bigint NOT NULL,
    client text NOT NULL,
    lane text NOT NULL,
    route text NOT NULL,
    status bigint NOT NULL,
    requests bigint NOT NULL,
    lossy bigint NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    sample text NOT NULL,
    PRIMARY KEY (day, client, lane, route, status)
  ) WITH (fillfactor = 50);
  CREATE INDEX audit_usage_client ON audit_usage (client, day);
  CREATE INDEX audit_usage_route ON audit_usage (route, client);
  CREATE TABLE audit_agent (
    day bigint NOT NULL,
    client text NOT NULL,
    family text NOT NULL,
    agent text NOT NULL,
    last bigint NOT NULL,
    PRIMARY KEY (day, client, family)
  ) WITH (fillfactor = 50);
  CREATE INDEX audit_agent_client ON audit_agent (client, day);
  CREATE TABLE audit_token (
    fingerprint text NOT NULL PRIMARY KEY,
    key text NOT NULL,
    agent text,
    first bigint NOT NULL,
    last bigint NOT NULL,
    last_alpha bigint NOT NULL,
    last_native bigint NOT NULL,
    requests bigint NOT NULL,
    native bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX audit_token_key ON audit_token (key);
  CREATE TABLE audit_sent (
    day bigint NOT NULL,
    client text NOT NULL,
    route text NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (day, client, route, name)
  ) WITH (fillfactor = 50);
  CREATE INDEX audit_sent_client ON audit_sent (client, day);
  CREATE INDEX audit_sent_route ON audit_sent (route, client);
  CREATE TABLE audit_counted (
    route text NOT NULL,
    name text NOT NULL,
    day bigint NOT NULL,
    PRIMARY KEY (route, name)
  ) WITH (fillfactor = 50);
  CREATE TABLE audit_loss (
    day bigint NOT NULL,
    client text NOT NULL,
    route text NOT NULL,
    name text NOT NULL,
    requests bigint NOT NULL,
    PRIMARY KEY (day, client, route, name)
  ) WITH (fillfactor = 50);
  CREATE INDEX audit_loss_client ON audit_loss (client, day);
  CREATE TABLE audit_erased (
    time bigint NOT NULL,
    command text NOT NULL,
    records bigint NOT NULL,
    summaries bigint NOT NULL,
    tokens bigint NOT NULL
  );
`;

/**
 * The steps of the schema, in PostgreSQL's words: SQLite's driver translates them. `base/storage/schema.ts` explains
 * how to add a step.
 */
export const STEPS: readonly string[] = [RECORDS + SUMMARIES];
