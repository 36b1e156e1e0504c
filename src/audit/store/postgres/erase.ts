/** Erases all that is stored about one client. */
import type { PoolClient } from "pg";
import { ERASE_SEGMENTS, eraseRows, type EraseRequest, type Erasure } from "../erase.ts";
import { compressAsync, decompressAsync } from "../segment.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { MAX_USAGE_ROWS } from "../../usage/usage.ts";
import type { Database } from "./database.ts";

const TOKENS = "SELECT fingerprint FROM audit_token WHERE key = ANY($1::text[])";
const IS_ERASED = "(client = ANY($1::text[]) OR sender = ANY($1::text[]))";
const SEGMENTS = `
  SELECT DISTINCT segment::text AS id FROM (
    SELECT segment FROM audit WHERE ${IS_ERASED} LIMIT ${1000 * ERASE_SEGMENTS}
  ) AS found LIMIT ${ERASE_SEGMENTS}
`;
const DATA = "SELECT data FROM audit_segment WHERE id = $1 FOR UPDATE";
const ROWS = `
  SELECT seq::text, start, size, coalesce(${IS_ERASED}, false) AS "isErased" FROM audit WHERE segment = $2 ORDER BY start
`;
const REMOVE_ROWS = `DELETE FROM audit WHERE segment = $2 AND ${IS_ERASED}`;
const REMOVE_SEGMENT = "DELETE FROM audit_segment WHERE id = $1";
/** Another segment, because a page may have read the places in the old one. */
const REPLACE = `
  INSERT INTO audit_segment (time, worth, records, owner, bare, bytes, data)
    SELECT time, worth, $2, owner, bare, $3, $4 FROM audit_segment WHERE id = $1 RETURNING id::text
`;
const MOVE = `
  UPDATE audit SET segment = $1, start = given.start
  FROM unnest($2::bigint[], $3::int[]) AS given (seq, start) WHERE audit.seq = given.seq
`;

/** In the order in which commits lock these rows. */
const FORGET_AGENTS_OF_STRANGERS = `
  WITH strangers AS (
    SELECT day, client, lane, route, status FROM audit_usage
    WHERE client IN ('', '${UNACCEPTED}') AND agent IS NOT NULL ORDER BY 1, 2, 3, 4, 5 FOR UPDATE
  )
  UPDATE audit_usage AS usage SET agent = NULL FROM strangers
  WHERE (usage.day, usage.client, usage.lane, usage.route, usage.status)
    = (strangers.day, strangers.client, strangers.lane, strangers.route, strangers.status)
`;

/** @returns The number of erased records. */
async function eraseSegment(client: PoolClient, id: string, keys: readonly string[]): Promise<number> {
  const [segment] = (await client.query<{ data: Buffer }>(DATA, [id])).rows;
  // The size limit has deleted it meanwhile, or another process has replaced it.
  if (!segment) return 0;
  const { rows } = await client.query<{ seq: string; start: number; size: number; isErased: boolean }>(ROWS, [
    keys,
    id,
  ]);
  const { bytes, kept } = eraseRows(await decompressAsync(segment.data, rows), rows);
  await client.query(REMOVE_ROWS, [keys, id]);
  if (kept.length > 0) {
    const data = await compressAsync(bytes);
    const [added] = (await client.query<{ id: string }>(REPLACE, [id, kept.length, data.length, data])).rows;
    await client.query(MOVE, [added?.id, kept.map(({ seq }) => seq), kept.map(({ start }) => start)]);
  }
  await client.query(REMOVE_SEGMENT, [id]);
  return rows.length - kept.length;
}

async function eraseSummaries(
  client: PoolClient,
  keys: readonly string[],
  { command }: EraseRequest,
  records: number,
): Promise<Erasure> {
  const remove = async (table: string, column: string): Promise<number> =>
    (await client.query(`DELETE FROM ${table} WHERE ${column} = ANY($1::text[])`, [keys])).rowCount ?? 0;
  const summaries =
    (await remove("audit_usage", "client")) +
    (await remove("audit_sent", "client")) +
    (await remove("audit_loss", "client"));
  const tokens = await remove("audit_token", "fingerprint");
  // Requests before v4 had accepted the client's token may have been the last ones of these.
  await client.query(FORGET_AGENTS_OF_STRANGERS);
  const time = Date.now();
  const entry = [time, command, records, summaries, tokens];
  await client.query("INSERT INTO audit_erased VALUES ($1, $2, $3, $4, $5)", entry);
  return { time: new Date(time).toISOString(), command, records, summaries, tokens };
}

/** Erases a client, some segments at a time. @throws {AuditUnavailableError} */
export async function eraseClient(
  database: Database,
  request: EraseRequest,
  onRecords?: (done: number) => void,
): Promise<Erasure> {
  const tokens = await database.query<{ fingerprint: string }>(TOKENS, [request.keys]);
  const keys = [...new Set([...request.keys, ...tokens.map(({ fingerprint }) => fingerprint)])];
  let records = 0;
  for (;;) {
    const found = await database.query<{ id: string }>(SEGMENTS, [keys]);
    if (found.length === 0) break;
    await database.transaction(async (client) => {
      for (const { id } of found) records += await eraseSegment(client, id, keys);
    });
    onRecords?.(records);
  }
  return database.transaction((client) => eraseSummaries(client, keys, request, records));
}

/** Reads the entries about erased clients, the newest first. */
export async function readErasures(database: Database): Promise<readonly Erasure[]> {
  const rows = await database.query<{ time: number } & Omit<Erasure, "time">>(`
    SELECT time::float8, command, records::float8, summaries::float8, tokens::float8
    FROM audit_erased ORDER BY audit_erased.time DESC LIMIT ${MAX_USAGE_ROWS}
  `);
  return rows.map((row) => ({ ...row, time: new Date(row.time).toISOString() }));
}
