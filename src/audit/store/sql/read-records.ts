/** Reads records. */
import { clampLimit, PAGE_SIZE, readCursor, writeCursor } from "../record-pages.ts";
import { MAX_RECORDS_COUNTED, type RouteUsage, type TokenActivity } from "../../usage/usage.ts";
import type { TableRow } from "../record-row.ts";
import { recordText, tryDecompress, UNREADABLE } from "../segment.ts";
import { clientsOf, type AuditQuery, type TextPage, type ValueFilter } from "../store.ts";
import { listOf, type Connection } from "./driver.ts";
import { readRoutes, readToken, spanOf, type Times } from "./read-usage.ts";
import { where, type Term, type Where } from "./where.ts";

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

/** Returns the condition of a query. Rows are searched in the order of their times: this takes 0.2 s per million rows. */
function conditionOf(query: AuditQuery): Where {
  const { route, status, lane, since } = query;
  const cursor = query.before === undefined ? undefined : readCursor(query.before);
  const end = query.until === undefined ? Infinity : Date.parse(query.until);
  // Only the older end is a condition. With both, a database may start at the newer one, and read all previous pages again.
  const startsAtCursor = cursor !== undefined && cursor.time < end;
  const clients = clientsOf(query);
  const keys = clients && listOf(clients);
  const values: Record<ValueFilter, Term> = {
    route: ["route = ?", route],
    status: ["status = ?", status],
    lane: ["lane = ?", lane],
  };
  return where([
    ["(client IN LIST(?) OR sender IN LIST(?))", keys, keys],
    ...Object.values(values),
    ["time >= ?", since === undefined ? undefined : Date.parse(since)],
    startsAtCursor
      ? ["(time, seq) < (?, ?)", cursor.time, cursor.seq]
      : ["time < ?", end === Infinity ? undefined : end],
  ]);
}

/** Reads one page of records, up to the maximum size. */
export async function readPage(connection: Connection, query: AuditQuery): Promise<TextPage> {
  const limit = clampLimit(query);
  const condition = conditionOf(query);
  const { sql, values } = condition.and(limit + 1);
  const found = await connection.query<FoundRecord>(
    `SELECT time, seq, segment, start, size FROM audit ${condition.text} ORDER BY time DESC, seq DESC LIMIT ${sql}`,
    values,
  );
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
  const { text, values } = conditionOf(query);
  const [row] = await connection.query<{ count: number }>(
    `SELECT count(*) AS count FROM audit ${text}`,
    values,
  );
  return row?.count ?? 0;
}

/** Counts the records of a token by route, those with the most requests first. */
async function countRoutes(connection: Connection, client: string): Promise<RouteUsage[]> {
  const condition = conditionOf({ client });
  const { sql, values } = condition.and(MAX_RECORDS_COUNTED);
  const rows = await connection.query<Omit<RouteUsage, "client" | "first" | "last" | "sample"> & Times>(
    `SELECT lane, route, status, count(*) AS requests, sum(lossy) AS lossy, min(time) AS first, max(time) AS last
      FROM (SELECT lane, route, status, lossy, time FROM audit ${condition.text} ORDER BY time DESC, seq DESC LIMIT ${sql}) AS newest
      GROUP BY lane, route, status ORDER BY count(*) DESC`,
    values,
  );
  return rows.map((row) => ({ ...row, ...spanOf(row), client, sample: "" }));
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
