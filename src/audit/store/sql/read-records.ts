/** Reads records. */
import { clampLimit, PAGE_SIZE, writeCursor } from "../record-pages.ts";
import { MAX_RECORDS_COUNTED, type RouteUsage, type TokenActivity } from "../../usage/usage.ts";
import type { TableRow } from "../record-row.ts";
import { recordText, tryDecompress, UNREADABLE } from "../segment.ts";
import type { AuditQuery, TextPage } from "../store.ts";
import { joinedPartsOf, partsOf } from "./blocks.ts";
import { listOf, type Connection } from "./driver.ts";
import { readRoutes, readToken } from "./read-usage.ts";

/** Maximum number of segments in memory at the same time. */
const SEGMENTS_AT_ONCE = 16;

/** The position of the text of a record. */
type RecordPlace = Pick<TableRow, "segment" | "start" | "size">;

type FoundRecord = Pick<TableRow, "time" | "seq"> & RecordPlace;

/** Reads the texts of rows in order, a few segments at a time. */
async function readTexts(connection: Connection, rows: readonly RecordPlace[]): Promise<string[]> {
  const texts = rows.map(() => UNREADABLE);
  const numbers = [...new Set(rows.map(({ segment }) => segment))];
  for (let first = 0; first < numbers.length; first += SEGMENTS_AT_ONCE) {
    const segments = await connection.query<{ seq: number; data: Uint8Array }>(
      "SELECT seq, data FROM audit_segment WHERE seq IN NUMBERS($1)",
      [listOf(numbers.slice(first, first + SEGMENTS_AT_ONCE))],
    );
    for (const { seq, data } of segments) {
      // A damaged segment must not prevent reading other records.
      const bytes = await tryDecompress(
        data,
        rows.filter(({ segment }) => segment === seq),
      );
      for (const [index, row] of rows.entries())
        if (row.segment === seq && bytes) texts[index] = recordText(bytes, row);
    }
  }
  return texts;
}

/** Reads the text of one record. */
export async function readRecord(connection: Connection, id: string): Promise<string | undefined> {
  const rows = await connection.query<RecordPlace>("SELECT segment, start, size FROM audit WHERE id = $1", [
    // PostgreSQL can't store a text that contains it.
    id.replaceAll("\u0000", ""),
  ]);
  return (await readTexts(connection, rows))[0];
}

/**
 * Finds the newest records of a query. Parts are read as long as they may contain records that are newer than those
 * found.
 */
async function findNewest(connection: Connection, query: AuditQuery, count: number): Promise<FoundRecord[]> {
  let newest: FoundRecord[] = [];
  for (const { last, where } of await partsOf(connection, query)) {
    const oldest = newest[count - 1];
    if (oldest && last < oldest.time) break;
    const { sql, values } = where.and(count);
    const rows = await connection.query<FoundRecord>(
      `SELECT time, seq, segment, start, size FROM audit ${where.text} ORDER BY time DESC, seq DESC LIMIT ${sql}`,
      values,
    );
    newest = [...newest, ...rows]
      .toSorted((one, other) => other.time - one.time || other.seq - one.seq)
      .slice(0, count);
  }
  return newest;
}

/** Reads one page of records, up to the maximum size. */
export async function readPage(connection: Connection, query: AuditQuery): Promise<TextPage> {
  const limit = clampLimit(query);
  const found = await findNewest(connection, query, limit + 1);
  let size = 0;
  const page = found.slice(0, limit).filter((row, index) => {
    size += row.size;
    return index === 0 || size <= PAGE_SIZE;
  });
  const last = page.at(-1);
  return {
    records: await readTexts(connection, page),
    next: last && page.length < found.length ? writeCursor(last) : null,
  };
}

/** Counts the records of a query. */
export async function countRecords(connection: Connection, query: AuditQuery): Promise<number> {
  let sum = 0;
  for (const { where } of await joinedPartsOf(connection, query)) {
    const [row] = await connection.query<{ count: number }>(
      `SELECT count(*) AS count FROM audit ${where.text}`,
      where.values,
    );
    sum += row?.count ?? 0;
  }
  return sum;
}

/** The records of a route. Two columns contain sums. */
interface RouteRow extends Pick<TableRow, "lane" | "route" | "status" | "requests" | "lossy"> {
  readonly first: number;
  readonly last: number;
}

/** Counts the records of a token by route, the newest first. */
async function countRoutes(connection: Connection, client: string): Promise<RouteUsage[]> {
  const rows: RouteRow[] = [];
  let counted = 0;
  for (const { where } of await joinedPartsOf(connection, { client })) {
    if (counted >= MAX_RECORDS_COUNTED) break;
    const { sql, values } = where.and(MAX_RECORDS_COUNTED);
    const found = await connection.query<RouteRow>(
      `SELECT lane, route, status, count(*) AS requests, sum(lossy) AS lossy, min(time) AS first, max(time) AS last
        FROM (SELECT lane, route, status, lossy, time FROM audit ${where.text} ORDER BY seq DESC LIMIT ${sql}) AS newest
        GROUP BY lane, route, status`,
      values,
    );
    counted += found.reduce((sum, { requests }) => sum + requests, 0);
    rows.push(...found);
  }
  return addRoutes(client, rows);
}

/** Adds up rows of several parts. The row with the most requests comes first. */
function addRoutes(client: string, rows: readonly RouteRow[]): RouteUsage[] {
  const groups = Map.groupBy(rows, ({ lane, route, status }) => JSON.stringify([lane, route, status]));
  return [...groups.values()]
    .map((group): RouteUsage => {
      const { lane = "alpha", route = null, status = 0 } = group[0] ?? {};
      return {
        client,
        lane,
        route,
        status,
        requests: group.reduce((sum, { requests }) => sum + requests, 0),
        lossy: group.reduce((sum, { lossy }) => sum + lossy, 0),
        first: new Date(Math.min(...group.map(({ first }) => first))).toISOString(),
        last: new Date(Math.max(...group.map(({ last }) => last))).toISOString(),
        sample: "",
      };
    })
    .toSorted((one, other) => other.requests - one.requests);
}

/** Reads the activity of one token: from the summaries if it is its own client, otherwise from its records. */
export async function readActivity(connection: Connection, fingerprint: string): Promise<TokenActivity> {
  const token = await readToken(connection, fingerprint);
  const routes =
    token?.client === fingerprint
      ? await readRoutes(connection, { client: fingerprint })
      : await countRoutes(connection, fingerprint);
  return { token, routes };
}
