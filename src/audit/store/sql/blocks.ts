/** The index of filtered pages. */
import { clientsOf, type AuditQuery, type ValueFilter } from "../store.ts";
import type { RecordColumns } from "../record-row.ts";
import { queryEnd } from "../record-pages.ts";
import { listOf, type Connection } from "./driver.ts";
import { where, type Term, type Where } from "./where.ts";

/**
 * The number of consecutive records of a block. Larger blocks take less time to write, but more time to read: if
 * matching records are rare, a filtered page reads a whole block for each of them.
 *
 * A block has one row about all its records, and one for each client, label and application: the times of the first and
 * last record, and the lanes, routes and statuses as text. With an index of records, each record would change the index
 * at a random place, which takes three times as long as writing the record. A block is indexed when the next one
 * starts. The records of the last block are searched without an index.
 */
export const BLOCK_ROWS = 1024;

/** The value of `client` in the row of a block about all its records. */
const ANY_CLIENT = "";

/** Maximum number of blocks that a query finds: enough for a hundred million records. */
const MAX_BLOCKS = 100_000;

/** Returns the number of the block that contains a record. */
export const blockOf = (seq: number): number => Math.floor(seq / BLOCK_ROWS);

/** Formats a call for the index. */
const callText = (lane: string, route: string | null, status: number): string =>
  `\n${lane}\r${route ?? ""}\t${status}\n`;

/**
 * The parts of the text of a block that contains records of a query. A filter that is not part of the text is applied
 * to the records of all blocks (`filterTerms`).
 */
function callParts({ lane, route, status }: AuditQuery): readonly string[] {
  const ofLane = lane === undefined ? [] : [`\n${lane}\r`];
  if (route === undefined) return status === undefined ? ofLane : [...ofLane, `\t${status}\n`];
  return [...ofLane, `\r${route}\t${status === undefined ? "" : `${status}\n`}`];
}

interface Call extends Pick<RecordColumns, "client" | "sender" | "lane" | "route" | "status"> {
  readonly first: number;
  readonly last: number;
}

interface BlockRow {
  readonly client: string;
  readonly block: number;
  first: number;
  last: number;
  calls: string;
}

async function indexBlock(connection: Connection, block: number): Promise<void> {
  const calls = await connection.query<Call>(
    `SELECT client, sender, lane, route, status, min(time) AS first, max(time) AS last FROM audit
      WHERE seq >= $1 AND seq < $2 GROUP BY client, sender, lane, route, status`,
    [block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS],
  );
  const rows = new Map<string, BlockRow>();
  for (const { client, sender, lane, route, status, first, last } of calls) {
    const text = callText(lane, route, status);
    for (const key of new Set([ANY_CLIENT, client ?? ANY_CLIENT, sender ?? ANY_CLIENT])) {
      const row = rows.get(key) ?? { client: key, block, first, last, calls: "" };
      row.first = Math.min(row.first, first);
      row.last = Math.max(row.last, last);
      if (!row.calls.includes(text)) row.calls += text;
      rows.set(key, row);
    }
  }
  await connection.insert(
    "audit_block",
    [...rows.values()],
    "ON CONFLICT (client, block) DO UPDATE SET first = excluded.first, last = excluded.last, calls = excluded.calls",
  );
}

/**
 * Indexes the blocks that became full. @param from The number of the first added record. @param next The number after
 * the last added record.
 */
export async function indexBlocks(connection: Connection, from: number, next: number): Promise<void> {
  for (let block = blockOf(from); block < blockOf(next); block += 1) await indexBlock(connection, block);
}

/** Returns the last block, whose records are searched without the index. */
async function lastBlock(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ seq: number | null }>("SELECT max(seq) AS seq FROM audit");
  return blockOf(row?.seq ?? 0);
}

/** A range of records that are read together. */
interface RecordPart {
  /** The time of the newest record, or a later time. */
  readonly last: number;
  readonly where: Where;
}

/** Returns the conditions on times. @param column `+` prevents a database from using the index of times within a block */
function timeTerms(query: AuditQuery, column: "" | "+" = ""): Term[] {
  const { cursor, until } = queryEnd(query);
  return [
    [`${column}time >= ?`, query.since === undefined ? undefined : Date.parse(query.since)],
    [`${column}time < ?`, until],
    [`(${column}time, ${column}seq) < (?, ?)`, cursor?.time, cursor?.seq],
  ];
}

/** Returns the conditions of all filters except times. */
function filterTerms(query: AuditQuery): Term[] {
  const { route, status, lane } = query;
  const clients = clientsOf(query);
  const keys = clients && listOf(clients);
  const terms: Record<ValueFilter | "clients", Term> = {
    clients: ["(client IN LIST(?) OR sender IN LIST(?))", keys, keys],
    route: ["route = ?", route],
    status: ["status = ?", status],
    lane: ["lane = ?", lane],
  };
  return Object.values(terms);
}

/** Whether a query filters by anything except times. */
const isFiltered = (query: AuditQuery): boolean =>
  filterTerms(query).some(([, value]) => value !== undefined);

interface FoundBlock {
  readonly block: number;
  readonly last: number;
}

/** Finds the blocks that may contain records of a query, the newest first. */
async function findBlocks(connection: Connection, query: AuditQuery): Promise<FoundBlock[]> {
  const clients = clientsOf(query);
  if (clients?.length === 0) return [];
  const { cursor, until } = queryEnd(query);
  const newest = await lastBlock(connection);
  const { text, values } = where([
    ["client IN LIST(?)", listOf(clients ?? [ANY_CLIENT])],
    ["block < ?", newest],
    ...callParts(query).map((part): Term => ["strpos(calls, ?) > 0", part]),
    ["last >= ?", query.since === undefined ? undefined : Date.parse(query.since)],
    ["first < ?", until],
    ["first <= ?", cursor?.time],
  ]);
  const indexed = await connection.query<FoundBlock>(
    `SELECT block, max(last) AS last FROM audit_block ${text} GROUP BY block ORDER BY max(last) DESC LIMIT ${MAX_BLOCKS}`,
    values,
  );
  return [{ block: newest, last: Infinity }, ...indexed];
}

const partOf = (query: AuditQuery, first: number, next: number, last: number): RecordPart => ({
  last,
  where: where([
    ["seq >= ? AND seq < ?", first * BLOCK_ROWS, next * BLOCK_ROWS],
    ...filterTerms(query),
    ...timeTerms(query, "+"),
  ]),
});

/**
 * The parts that may contain records of a query, the newest first: blocks, or all records if the query filters only
 * by time.
 */
export async function partsOf(connection: Connection, query: AuditQuery): Promise<RecordPart[]> {
  if (!isFiltered(query)) return [{ last: Infinity, where: where(timeTerms(query)) }];
  const found = await findBlocks(connection, query);
  return found.map(({ block, last }) => partOf(query, block, block + 1, last));
}

/** Like {@link partsOf}, but adjacent parts are joined: PostgreSQL would scan all records for a join with a list of blocks. */
export async function joinedPartsOf(connection: Connection, query: AuditQuery): Promise<RecordPart[]> {
  if (!isFiltered(query)) return partsOf(connection, query);
  const blocks = (await findBlocks(connection, query)).map(({ block }) => block);
  const runs: { first: number; next: number }[] = [];
  for (const block of blocks.toSorted((one, other) => other - one)) {
    const run = runs.at(-1);
    if (run?.first === block + 1) run.first = block;
    else runs.push({ first: block, next: block + 1 });
  }
  return runs.map(({ first, next }) => partOf(query, first, next, Infinity));
}

/**
 * Finds the first block that may contain records of these clients. @param from The lowest block number. @returns
 * undefined if there is no such block
 */
export async function nextBlockOf(
  connection: Connection,
  keys: string,
  from: number,
): Promise<number | undefined> {
  const [found] = await connection.query<{ block: number | null }>(
    "SELECT min(block) AS block FROM audit_block WHERE client IN LIST($1) AND block >= $2",
    [keys, from],
  );
  const newest = await lastBlock(connection);
  const next = Math.min(found?.block ?? newest, newest);
  return next < from ? undefined : next;
}
