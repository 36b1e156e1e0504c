/** Erases all stored data of one client. */
import { MAX_USAGE_ROWS } from "../../usage/usage.ts";
import { UNACCEPTED } from "../../usage/summary-key.ts";
import type { TableRow } from "../record-row.ts";
import type { EraseRequest, Erasure } from "../store.ts";
import { BLOCK_ROWS, nextBlockOf } from "./blocks.ts";
import { COUNTS, deleteClients } from "./counts.ts";
import { listOf, type Connection } from "./driver.ts";
import { removeSegment, rewriteSegment, rowsOf, type StoredSegment } from "./segments.ts";

/** The result of one step of an erasure. */
export interface EraseStep {
  readonly records: number;
  /** The start of the next step; undefined after the last step. */
  readonly next: number | undefined;
}

/** Returns the keys of a client, and of its tokens. */
async function allKeysOf(connection: Connection, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const tokens = await connection.query<{ fingerprint: string }>(
    "SELECT fingerprint FROM audit_token WHERE key IN LIST($1)",
    [listOf(keys)],
  );
  return new Set([...keys, ...tokens.map(({ fingerprint }) => fingerprint)]);
}

/** Erases the records of a client in a segment. @returns the number of erased records */
async function eraseSegment(
  connection: Connection,
  segment: StoredSegment,
  keys: ReadonlySet<string>,
): Promise<number> {
  const isErased = ({ client, sender }: TableRow): boolean =>
    [client, sender].some((key) => key !== null && keys.has(key));
  const rows = await rowsOf(connection, segment);
  const saved = await rewriteSegment(connection, segment, rows, (row, line) =>
    isErased(row) ? undefined : line,
  );
  // A damaged segment can't be read, but may contain the client.
  if (saved === undefined) await removeSegment(connection, segment);
  return rows.filter(isErased).length;
}

/** Number of rows around those of a client that are rewritten: more than fit into three pages of SQLite. */
const NEIGHBOURS = 200;

/**
 * Rewrites rows. When SQLite moves rows between pages, it may leave copies behind: pages whose rows are all deleted are
 * overwritten.
 */
async function rewriteRows(connection: Connection, first: number, next: number): Promise<void> {
  const range = [first - NEIGHBOURS, next + NEIGHBOURS];
  const rows = await connection.query<TableRow>("SELECT * FROM audit WHERE seq >= $1 AND seq < $2", range);
  await connection.run("DELETE FROM audit WHERE seq >= $1 AND seq < $2", range);
  await connection.insert("audit", rows);
}

/** Erases the records of a client in one block. @param from The first block that may contain such records */
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
  const segments = await connection.query<StoredSegment>(
    `SELECT seq, last FROM audit_segment WHERE seq IN (
      SELECT segment FROM audit WHERE seq >= $2 AND seq < $3 AND (client IN LIST($1) OR sender IN LIST($1))
    )`,
    [list, ...range],
  );
  let records = 0;
  for (const segment of segments) records += await eraseSegment(connection, segment, keys);
  if (records > 0) await rewriteRows(connection, ...range);
  return { records, next: block + 1 };
}

/** Erases the summaries and the tokens of a client, and adds the entry about it. */
export async function eraseSummaries(
  connection: Connection,
  { keys, command }: EraseRequest,
  records: number,
): Promise<Erasure> {
  const list = listOf(await allKeysOf(connection, keys));
  await connection.run("DELETE FROM audit_block WHERE client IN LIST($1)", [list]);
  const summaries = await deleteClients(connection, list);
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
