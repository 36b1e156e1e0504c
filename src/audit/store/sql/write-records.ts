/** Writes the records of a commit, and counts them in the summaries. */
import { usageAgent } from "../../usage/usage.ts";
import type { Batch, Segment } from "../segment.ts";
import { acceptedClients, type IndexRow, type TableRow, worthOf } from "../record-row.ts";
import { indexBlocks } from "./blocks.ts";
import { claimEarlier } from "./claim-earlier.ts";
import { countRows, countTokens } from "./count-rows.ts";
import { addRows, COUNTED } from "./counts.ts";
import { listOf, type Connection } from "./driver.ts";
import { keyRows, type KeyedRow } from "./key-rows.ts";

/** Removes the rows of records that are already stored: a commit can succeed even though its caller got an error. */
async function findNew(connection: Connection, rows: readonly IndexRow[]): Promise<ReadonlySet<string>> {
  const found = await connection.query<{ id: string }>("SELECT id FROM audit WHERE id IN LIST($1)", [
    listOf(rows.map(({ id }) => id)),
  ]);
  const known = new Set(found.map(({ id }) => id));
  return new Set(rows.flatMap(({ id }) => (known.has(id) ? [] : id)));
}

/** Converts a record to a row of the table `audit`. Data that was only counted is not stored. */
const tableRow = ({ key: _key, ...row }: KeyedRow, seq: number, segment: number): TableRow => ({
  ...row,
  ...(row.accepted ? { agent: null, sent: null, lost: null } : { agent: usageAgent(row.agent) }),
  seq,
  segment,
});

/** Adds a segment and its rows. @returns the number after those of its records */
async function insertSegment(
  connection: Connection,
  { owner }: Segment,
  rows: readonly KeyedRow[],
  data: Uint8Array,
  first: number,
): Promise<number> {
  const next = first + rows.length;
  await connection.insert(
    "audit",
    rows.map((row, index) => tableRow(row, first + index, first)),
  );
  const time = rows.reduce((latest, row) => Math.max(latest, row.time), 0);
  const worth = rows.reduce((most, row) => Math.max(most, worthOf(row)), 0);
  await connection.run(
    "INSERT INTO audit_segment (seq, last, time, worth, owner, bare, bytes, data) VALUES ($1, $2, $3, $4, $5, 0, $6, $7)",
    [first, next - 1, time, worth, owner, data.length, data],
  );
  return next;
}

/** Adds the segments of a batch and indexes them. */
async function insertBatch(
  connection: Connection,
  { segments }: Batch,
  keyed: readonly KeyedRow[],
  isNew: ReadonlySet<string>,
  data: readonly Uint8Array[],
): Promise<void> {
  const [newest] = await connection.query<{ last: number }>(
    "SELECT last FROM audit_segment WHERE seq = (SELECT max(seq) FROM audit_segment)",
  );
  const from = (newest?.last ?? 0) + 1;
  let next = from;
  let at = 0;
  for (const [index, segment] of segments.entries()) {
    const rows = keyed.slice(at, at + segment.rows.length).filter(({ id }) => isNew.has(id));
    at += segment.rows.length;
    if (rows.length > 0)
      next = await insertSegment(connection, segment, rows, data[index] ?? Buffer.alloc(0), next);
  }
  await indexBlocks(connection, from, next);
}

/**
 * Writes and counts all rows of a batch.
 *
 * @param data The compressed segments.
 */
export async function writeBatch(
  connection: Connection,
  batch: Batch,
  data: readonly Uint8Array[],
): Promise<void> {
  const given = batch.segments.flatMap(({ rows }) => rows);
  if (given.length === 0) return;
  const { keyed, tokens } = await keyRows(connection, given);
  const isNew = await findNew(connection, given);
  await insertBatch(connection, batch, keyed, isNew, data);
  await addRows(connection, COUNTED, batch.counted);
  const counted = keyed.filter(({ id }) => isNew.has(id));
  await countRows(connection, counted);
  await countTokens(connection, counted, tokens);
  await claimEarlier(connection, acceptedClients(given), tokens);
}
