import type { PoolClient } from "pg";
import { WORTH, QUERY_FILTERS } from "../stored-row.ts";

/** Key of `pg_advisory_xact_lock`: replicas that start at the same time prepare the database one after the other. */
const LOCK = 7_012_026_001;

/** `seq` orders the records of one millisecond. */
const INDEXES = QUERY_FILTERS.map(
  (columns) =>
    `CREATE INDEX ${["audit", ...columns, "by_time"].join("_")} ON audit (${[...columns, "time", "seq"].join(", ")});`,
).join("\n");

/**
 * One step for each version of the schema, in their order.
 *
 * `record` is json, not jsonb: json keeps the text unchanged, and accepts U+0000 and lone surrogates, which jsonb rejects. A
 * query can cast it.
 */
const STEPS = [
  `
  CREATE TABLE audit (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    time bigint NOT NULL,
    client text,
    route text,
    status integer NOT NULL,
    size integer NOT NULL,
    record json NOT NULL
  );
  ${INDEXES}
  CREATE INDEX audit_size ON audit (time) INCLUDE (size);
  CREATE TABLE audit_usage (
    day text NOT NULL,
    client text NOT NULL,
    lane text NOT NULL,
    route text NOT NULL,
    status integer NOT NULL,
    requests bigint NOT NULL,
    lossy bigint NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    sample text NOT NULL,
    agent text,
    PRIMARY KEY (day, client, lane, route, status)
  ) WITH (fillfactor = 50);
  `,
  `
  ALTER TABLE audit ADD COLUMN worth smallint NOT NULL DEFAULT ${WORTH.accepted},
    ADD COLUMN lane text, ADD COLUMN agent text, ADD COLUMN lossy integer;
  CREATE INDEX audit_least ON audit (worth, time, seq) INCLUDE (size) WHERE worth < ${WORTH.accepted};
  CREATE INDEX audit_unaccepted ON audit (client) WHERE worth < ${WORTH.accepted} AND client IS NOT NULL;
  `,
];

/**
 * Creates the tables or migrates older ones.
 *
 * @throws {NewerSchemaError} If a newer version has written the database.
 */
export async function prepareSchema(client: PoolClient): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    await client.query("CREATE TABLE IF NOT EXISTS audit_version (version integer NOT NULL)");
    const { rows } = await client.query<{ version: number }>("SELECT version FROM audit_version");
    const version = rows[0]?.version ?? 0;
    if (version > STEPS.length) throw new NewerSchemaError();
    for (const step of STEPS.slice(version)) await client.query(step);
    await client.query("DELETE FROM audit_version");
    await client.query("INSERT INTO audit_version VALUES ($1)", [STEPS.length]);
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** A newer version has written the database. An older gateway must not write to a schema that it does not know. */
export class NewerSchemaError extends Error {
  override readonly name = "NewerSchemaError";
}
