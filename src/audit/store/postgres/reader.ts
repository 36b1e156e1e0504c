import { clampLimit, PAGE_SIZE, queryEnd, writeCursor } from "../../record/record-pages.ts";
import { decompressAsync, recordText, UNREADABLE } from "../segment.ts";
import { clientsOf, type AuditQuery, type TextPage } from "../store.ts";
import type { Database } from "./database.ts";
import { parameters, type Term } from "./parameters.ts";

/** Index rows of one page, up to the maximum size of a page. */
const PAGE = (where: string, limit: string): string => `
  SELECT time::text, seq::text, segment::text, start, size FROM (
    SELECT time, seq, segment, start, size, sum(size) OVER (ORDER BY time DESC, seq DESC) - size AS before
    FROM (
      SELECT time, seq, segment, start, size FROM audit ${where} ORDER BY time DESC, seq DESC LIMIT ${limit}
    ) AS page
  ) AS sized WHERE before = 0 OR before + size <= ${PAGE_SIZE} ORDER BY sized.time DESC, sized.seq DESC
`;
const BY_ID = "SELECT segment::text, start, size FROM audit WHERE id = $1";
const SEGMENTS = "SELECT id::text, data FROM audit_segment WHERE id = ANY($1::bigint[])";

/** Segments that are in memory at the same time. */
const SEGMENTS_AT_ONCE = 16;

/** A row of the index. */
interface FoundRow {
  readonly segment: string;
  readonly start: number;
  readonly size: number;
}

function recordTerms(query: AuditQuery): Term[] {
  const { route, status, lane, since } = query;
  const clients = clientsOf(query);
  const { cursor, until } = queryEnd(query);
  return [
    ["(client = ANY(?::text[]) OR sender = ANY(?::text[]))", clients, clients],
    ["route = ?", route],
    ["status = ?", status],
    ["lane = ?", lane],
    ["time >= ?", since && Date.parse(since)],
    ["time < ?", until],
    ["(time, seq) < (?::bigint, ?::bigint)", cursor?.time, cursor?.seq],
  ];
}

/**
 * Reads the texts of rows, a few segments at a time. Rows of a segment that was deleted meanwhile are left out.
 *
 * @throws {AuditUnavailableError}
 */
async function readTexts(database: Database, rows: readonly FoundRow[]): Promise<string[]> {
  const texts: (string | undefined)[] = rows.map(() => undefined);
  const ids = [...new Set(rows.map(({ segment }) => segment))];
  for (let first = 0; first < ids.length; first += SEGMENTS_AT_ONCE) {
    const given = [ids.slice(first, first + SEGMENTS_AT_ONCE)];
    const segments = await database.query<{ id: string; data: Buffer }>(SEGMENTS, given);
    for (const { id, data } of segments) {
      const places = rows.filter(({ segment }) => segment === id);
      // The records of a damaged segment don't keep others from being read.
      const bytes = await decompressAsync(data, places).catch(() => undefined);
      rows.forEach((row, index) => {
        if (row.segment === id) texts[index] = bytes ? recordText(bytes, row) : UNREADABLE;
      });
    }
  }
  return texts.filter((text) => text !== undefined);
}

/** Reads the text of one record. @throws {AuditUnavailableError} */
export async function readRecord(database: Database, id: string): Promise<string | undefined> {
  const rows = await database.query<FoundRow>(BY_ID, [id.replaceAll("\u0000", "")]);
  const [text] = await readTexts(database, rows);
  return text;
}

/** Reads one page of records. @throws {AuditUnavailableError} */
export async function readRecordPage(database: Database, query: AuditQuery): Promise<TextPage> {
  const { values, add, where } = parameters();
  const limit = clampLimit(query);
  const text = PAGE(where(recordTerms(query)), add(limit + 1));
  const rows = await database.query<FoundRow & { time: string; seq: string }>(text, values);
  const found = rows.slice(0, limit);
  const last = found.at(-1);
  // A page may also be full because of its size. A query checks whether more records follow.
  const more = last && (rows.length > limit || (await follows(database, query, last)));
  const next = more ? writeCursor({ time: Number(last.time), seq: Number(last.seq) }) : null;
  return { records: await readTexts(database, found), next };
}

async function follows(
  database: Database,
  query: AuditQuery,
  last: { time: string; seq: string },
): Promise<boolean> {
  const { values, where } = parameters();
  const before = writeCursor({ time: Number(last.time), seq: Number(last.seq) });
  const text = where(recordTerms({ ...query, before }));
  const rows = await database.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM audit ${text}) AS found`,
    values,
  );
  return rows[0]?.found === true;
}

/** Counts the matching records. @throws {AuditUnavailableError} */
export async function countRecords(database: Database, query: AuditQuery): Promise<number> {
  const { values, where } = parameters();
  const text = `SELECT count(*)::float8 AS count FROM audit ${where(recordTerms(query))}`;
  const rows = await database.query<{ count: number }>(text, values);
  return rows[0]?.count ?? 0;
}
