/** Reads records. */
import { clampLimit, PAGE_SIZE, writeCursor } from "../record-pages.ts";
import { MAX_RECORDS_COUNTED, type RouteUsage, type TokenActivity } from "../../usage/usage.ts";
import { recordText, tryDecompress, UNREADABLE } from "../segment.ts";
import type { AuditQuery, TextPage } from "../store.ts";
import { partsOf, recordsOf } from "./blocks.ts";
import { listOf, type Connection } from "./driver.ts";
import { readRoutes, readToken, spanOf, type Times } from "./read-usage.ts";

/** Maximum number of segments in memory at the same time. */
const SEGMENTS_AT_ONCE = 16;

/** The place of the text of a record. */
interface RecordPlace {
  readonly segment: number;
  readonly start: number;
  readonly size: number;
}

interface FoundRecord extends RecordPlace {
  readonly time: number;
  readonly seq: number;
}

/** Reads the texts of rows, in their order, a few segments at a time. */
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
    // PostgreSQL contains no text with it.
    id.replaceAll("\u0000", ""),
  ]);
  return (await readTexts(connection, rows))[0];
}

/**
 * The newest records of a query. Parts are read as long as they may contain newer records than the ones that were
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

/** Reads one page of records, up to its size. */
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
  const { blocks, from, values } = await recordsOf(connection, query);
  const [row] = await connection.query<{ count: number }>(
    `${blocks} SELECT count(*) AS count ${from}`,
    values,
  );
  return row?.count ?? 0;
}

/** Counts the newest records of a token by route. The route with the most comes first. */
async function countRoutes(connection: Connection, client: string): Promise<RouteUsage[]> {
  const { blocks, from, values } = await recordsOf(connection, { client });
  const rows = await connection.query<Omit<RouteUsage, "first" | "last"> & Times>(
    `${blocks} SELECT lane, route, status, count(*) AS requests, sum(lossy) AS lossy, min(time) AS first, max(time) AS last
      FROM (SELECT lane, route, status, lossy, time ${from} ORDER BY seq DESC LIMIT ${MAX_RECORDS_COUNTED}) AS newest
      GROUP BY lane, route, status ORDER BY count(*) DESC`,
    values,
  );
  return rows.map((row) => ({ ...row, client, ...spanOf(row), sample: "" }));
}

/** Reads the activity of one token: from the summaries if it is its own client, else from its records. */
export async function readActivity(connection: Connection, fingerprint: string): Promise<TokenActivity> {
  const token = await readToken(connection, fingerprint);
  const routes =
    token?.client === fingerprint
      ? await readRoutes(connection, { client: fingerprint })
      : await countRoutes(connection, fingerprint);
  return { token, routes };
}
