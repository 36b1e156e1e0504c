/** Translates a part of a v4 page: the rows of one alpha page may come from several v4 pages. */
import { type Cursor, fromJsonText, readRaw } from "../../base/index.ts";
import { type ListValues, OutputBuffer, type ReadContext, type Route } from "../../pack/index.ts";
import { objectAt, openListBody, type UpstreamResponse } from "../calls/upstream-response.ts";
import { collectRows } from "../calls/translate-response.ts";

/** The rows of a page from one index up to a second index. */
interface RowRange {
  readonly from: number;
  readonly to: number;
  /** The text between two rows. */
  readonly separator: string;
}

/** The items and values that were read from a page. */
export interface TranslatedPage {
  readonly values: ListValues;
  /** Number of all rows of the page. */
  readonly count: number;
  /** The rows of the range, translated to alpha and joined by the separator. */
  readonly rows: Buffer;
  /** Number of rows of the range. */
  readonly taken: number;
  /** The last row of the range, as v4 sent it; undefined if there are no rows. */
  readonly lastUpstream: () => unknown;
  /** The first row of the range, as v4 sent it; undefined if there are no rows. */
  readonly firstUpstream: () => unknown;
  /** The last row of the range, translated to alpha. */
  readonly lastClient: () => unknown;
  /** The first row of the range, translated to alpha. */
  readonly firstClient: () => unknown;
}

/** Translates the rows of a range. Other rows are skipped. @throws the errors of `translateList` */
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

/** Reads a page, and calls a function for each row of the range. */
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

/** Writes rows without creating a text for each. */
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

/** Reads rows one at a time. */
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
 * Finds the index of the row whose member is a cursor of the client. All rows are translated, because the client's
 * value only exists after the translation.
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
