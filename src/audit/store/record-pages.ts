import { DEFAULT_LIMIT, MAX_LIMIT } from "./store.ts";
import type { AuditQuery } from "./store.ts";

/** The position after which a page starts: the time and number of the last record of the previous page. */
interface Cursor {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The record's number in its store. */
  readonly seq: number;
}

/** Formats a cursor. It is `next` of a page, and clients send it back as `before`. */
export function writeCursor({ time, seq }: Cursor): string {
  return `${time}-${seq}`;
}

/** Parses a cursor; returns `undefined` for any other text. */
export function readCursor(text: string): Cursor | undefined {
  const [, time, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return time === undefined ? undefined : { time: Number(time), seq: Number(seq) };
}

/** The newer end of a query's range. Only one member is defined. */
interface QueryEnd {
  /** Milliseconds since the epoch; exclusive. */
  readonly until: number | undefined;
  readonly cursor: Cursor | undefined;
}

/**
 * Returns the older of a query's cursor and its `until`. With both conditions, a database may start at the newer one,
 * and read all previous pages again for each page.
 */
export function queryEnd({ before, until }: { before?: string; until?: string }): QueryEnd {
  const cursor = before === undefined ? undefined : readCursor(before);
  const end = until === undefined ? undefined : Date.parse(until);
  if (cursor === undefined || end === undefined) return { cursor, until: end };
  return cursor.time < end ? { cursor, until: undefined } : { cursor: undefined, until: end };
}

/** Maximum number of characters of one page, to limit memory. A page always contains at least one record. */
export const PAGE_SIZE = 16 * 1024 * 1024;

/** Returns the limit of a query, between 1 and the maximum. */
export function clampLimit({ limit = DEFAULT_LIMIT }: AuditQuery): number {
  return Math.min(Math.max(limit, 1), MAX_LIMIT);
}
