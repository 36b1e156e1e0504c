/** A part of a v4 page, translated: the rows of one page of alpha may come from several. */
import { type Cursor, fromJsonText, readRaw } from "../../base/index.ts";
import { type ListValues, OutputBuffer, type ReadContext, type Route } from "../../pack/index.ts";
import { objectAt, openListBody, type UpstreamResponse } from "../calls/upstream-response.ts";
import { collectRows } from "../calls/translate-response.ts";

/** The rows of a page from one index up to another. */
interface RowRange {
  readonly from: number;
  readonly to: number;
  /** The text between two rows. */
  readonly separator: string;
}

/** The items and values that were read of a page. */
export interface TranslatedPage {
  readonly values: ListValues;
  /** Number of all its rows. */
  readonly count: number;
  /** Alpha's rows of the range, joined by the separator. */
  readonly rows: Buffer;
  /** Number of rows of the range. */
  readonly taken: number;
  /** v4's last row before the end of the range; undefined without rows. */
  readonly lastUpstream: () => unknown;
  /** v4's first row of the range; undefined without rows. */
  readonly firstUpstream: () => unknown;
  /** Alpha's last row of the range. */
  readonly lastClient: () => unknown;
  /** Alpha's first row of the range. */
  readonly firstClient: () => unknown;
}

/** Translates the rows of a range. Other rows are skipped. @throws see `translateList` */
export async function translatePage(
  response: UpstreamResponse,
  route: Route,
  reading: ReadContext,
  range: RowRange,
): Promise<TranslatedPage> {
  return route.append
    ? appendRows(response, route, route.append, reading, range)
    : readRows(response, route, reading, range);
}

/** Reads a page, and hands over each row of the range. */
function readRange(
  response: UpstreamResponse,
  { readWrapped, lists }: Route,
  { from, to }: RowRange,
  readRow: (row: Cursor) => unknown,
): Pick<TranslatedPage, "values" | "count" | "taken" | "firstUpstream" | "lastUpstream"> {
  let cursor: Cursor | undefined;
  let firstAt = 0;
  let lastAt = 0;
  let index = 0;
  const readOne = (row: Cursor): void => {
    const isBefore = index < from;
    const isBehind = index >= to;
    if (index === from) firstAt = row.at;
    index += 1;
    if (!isBehind) {
      cursor = row;
      lastAt = row.at;
    }
    if (isBefore || isBehind) readRaw(row);
    else readRow(objectAt(row));
  };
  const { items, ...values } = openListBody(response, lists.parseList, readOne, readWrapped);
  const end = cursor;
  const taken = Math.max(0, Math.min(items.length, to) - from);
  return {
    values,
    count: items.length,
    taken,
    firstUpstream: () => (end && taken > 0 ? fromJsonText(readRaw({ ...end, at: firstAt })) : undefined),
    lastUpstream: () => end && fromJsonText(readRaw({ ...end, at: lastAt })),
  };
}

/** Writes rows one behind the other, without a text for each. */
function appendRows(
  response: UpstreamResponse,
  route: Route,
  append: NonNullable<Route["append"]>,
  reading: ReadContext,
  range: RowRange,
): TranslatedPage {
  const output = OutputBuffer.shared;
  const start = output.at;
  let lastAt = start;
  let firstEnd: number | undefined;
  try {
    const page = readRange(response, route, range, (row) => {
      if (output.at > start) {
        firstEnd ??= output.at - start;
        output.append(range.separator);
      }
      lastAt = output.at;
      void append(row, reading, output);
    });
    const rows = output.takeBytes(start);
    const offset = lastAt - start;
    return {
      ...page,
      rows,
      firstClient: () => (page.taken > 0 ? fromJsonText(rows.toString("utf8", 0, firstEnd)) : undefined),
      lastClient: () => (page.taken > 0 ? fromJsonText(rows.toString("utf8", offset)) : undefined),
    };
  } finally {
    output.truncate(start);
  }
}

/** Reads rows one by one. */
async function readRows(
  response: UpstreamResponse,
  route: Route,
  reading: ReadContext,
  range: RowRange,
): Promise<TranslatedPage> {
  const { list, rows } = await collectRows(route, reading, (readRow) =>
    readRange(response, route, range, readRow),
  );
  return {
    ...list,
    rows: Buffer.from(rows.join(range.separator)),
    firstClient: () => (rows.length > 0 ? fromJsonText(rows[0] ?? "") : undefined),
    lastClient: () => (rows.length > 0 ? fromJsonText(rows.at(-1) ?? "") : undefined),
  };
}

/**
 * Finds the index of the row whose member is a cursor of the client. All rows are translated: only that shows the value that
 * clients know.
 */
export async function findRow(
  response: UpstreamResponse,
  route: Route,
  reading: ReadContext,
  isRow: (row: unknown) => boolean,
): Promise<{ readonly index: number; readonly page: TranslatedPage }> {
  const range = { from: 0, to: Infinity, separator: "," };
  const page = await translatePage(response, route, reading, range);
  const rows = fromJsonText(`[${page.rows.toString()}]`) as readonly unknown[];
  return { index: rows.findIndex(isRow), page };
}
