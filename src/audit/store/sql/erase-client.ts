/** Erases all stored data of one client. */
import { eraseRows, type EraseRequest, type EraseStep, type Erasure } from "../erase.ts";
import { compressSegment, decompressSegment } from "../segment.ts";
import { MAX_USAGE_ROWS } from "../../usage/usage.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import { BLOCK_ROWS, nextBlockOf } from "./blocks.ts";
import { COUNTS, deleteClients } from "./counts.ts";
import { listOf, type Connection } from "./driver.ts";
import { moveRows, rewriteRows, rowsOf } from "./segment-rows.ts";

/** The keys of a client, and its tokens. */
async function allKeysOf(connection: Connection, keys: readonly string[]): Promise<readonly string[]> {
  const tokens = await connection.query<{ fingerprint: string }>(
    "SELECT fingerprint FROM audit_token WHERE key IN LIST($1)",
    [listOf(keys)],
  );
  return [...new Set([...keys, ...tokens.map(({ fingerprint }) => fingerprint)])];
}

/**
 * @returns the number of erased records
 * @returns how many records were erased
 */
async function eraseSegment(
  connection: Connection,
  seq: number,
  keys: ReadonlySet<string | null>,
): Promise<number> {
  const [segment] = await connection.query<{ last: number; data: Uint8Array }>(
    "SELECT last, data FROM audit_segment WHERE seq = $1",
    [seq],
  );
  if (!segment) return 0;
  const { last, data } = segment;
  const rows = (await rowsOf(connection, seq, last)).map((row) => ({
    row,
    start: row.start,
    size: row.size,
    isErased: keys.has(row.client) || keys.has(row.sender),
  }));
  const { bytes, kept } = eraseRows(await decompressSegment(data, rows), rows);
  const erased = rows.filter(({ isErased }) => isErased).map(({ row }) => row.seq);
  await connection.run("DELETE FROM audit WHERE seq IN NUMBERS($1)", [listOf(erased)]);
  if (kept.length === 0) await connection.run("DELETE FROM audit_segment WHERE seq = $1", [seq]);
  else {
    const smaller = await compressSegment(bytes);
    await connection.run("UPDATE audit_segment SET data = $1, bytes = $2 WHERE seq = $3", [
      smaller,
      smaller.length,
      seq,
    ]);
    await moveRows(
      connection,
      kept.map(({ row, start }) => ({ ...row, start })),
    );
  }
  return erased.length;
}

/** Erases the records of a client in one block. @param from The first block that may contain any */
export async function eraseRecords(
  connection: Connection,
  given: readonly string[],
  from: number,
): Promise<EraseStep> {
  const keys = await allKeysOf(connection, given);
  const list = listOf(keys);
  const block = await nextBlockOf(connection, list, from);
  if (block === undefined) return { records: 0, next: undefined };
  const range = [block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS] as const;
  const segments = await connection.query<{ segment: number }>(
    `SELECT DISTINCT segment FROM audit
      WHERE seq >= $2 AND seq < $3 AND (client IN LIST($1) OR sender IN LIST($1))`,
    [list, ...range],
  );
  let records = 0;
  for (const { segment } of segments) records += await eraseSegment(connection, segment, new Set(keys));
  if (records > 0) await rewriteRows(connection, ...range);
  return { records, next: block + 1 };
}

/** Erases the summaries and the tokens of a client, and adds the entry about it. */
export async function eraseSummaries(
  connection: Connection,
  { keys: given, command }: EraseRequest,
  records: number,
): Promise<Erasure> {
  const keys = await allKeysOf(connection, given);
  const list = listOf(keys);
  await connection.run("DELETE FROM audit_block WHERE client IN LIST($1)", [list]);
  const summaries = await deleteClients(connection, keys);
  const tokens = await connection.run("DELETE FROM audit_token WHERE fingerprint IN LIST($1)", [list]);
  // Earlier requests of the client may be the last ones of the key of unaccepted tokens.
  await connection.run(`DELETE FROM ${COUNTS.agents.name} WHERE client IN ('', '${UNACCEPTED}')`);
  const time = Date.now();
  await connection.insert("audit_erased", [{ time, command, records, summaries, tokens }]);
  return { time: new Date(time).toISOString(), command, records, summaries, tokens };
}

/** Reads the entries about erased clients, the newest first. */
export async function readErasures(connection: Pick<Connection, "query">): Promise<Erasure[]> {
  const rows = await connection.query<Omit<Erasure, "time"> & { readonly time: number }>(
    `SELECT time, command, records, summaries, tokens FROM audit_erased ORDER BY time DESC LIMIT ${MAX_USAGE_ROWS}`,
  );
  return rows.map((row) => ({ ...row, time: new Date(row.time).toISOString() }));
}
