import type { AuditRecord } from "./record.ts";
import { DEFAULT_LIMIT, MAX_LIMIT } from "./store.ts";
import type { AuditPage, AuditQuery, TextPage } from "./store.ts";

/** Where a page begins: behind this record, in the order of time and, within a millisecond, of arrival. */
interface Cursor {
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The record's number in its store. */
  readonly seq: number;
}

/** A cursor as clients carry it from `next` to `before`. */
export function writeCursor({ time, seq }: Cursor): string {
  return `${time}-${seq}`;
}

/** Gives `undefined` for what no store has written. */
export function readCursor(text: string): Cursor | undefined {
  const [, time, seq] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
  return time === undefined ? undefined : { time: Number(time), seq: Number(seq) };
}

/** What ends a query towards the newer side. */
interface QueryEnd {
  /** Milliseconds since the epoch, excluded. */
  readonly until: number | undefined;
  readonly cursor: Cursor | undefined;
}

/**
 * The nearer of a query's two ends, its cursor and its `until`: with both of them a database may take the farther
 * for where it begins to read, and go over all pages before once more for each page.
 */
export function queryEnd({ before, until }: { before?: string; until?: string }): QueryEnd {
  const cursor = before === undefined ? undefined : readCursor(before);
  const end = until === undefined ? undefined : Date.parse(until);
  if (cursor === undefined || end === undefined) return { cursor, until: end };
  return cursor.time < end ? { cursor, until: undefined } : { cursor: undefined, until: end };
}

/** Characters of one page, so that a page of large records does not fill the memory. One record is always given. */
export const PAGE_SIZE = 16 * 1024 * 1024;

export function limitOf({ limit = DEFAULT_LIMIT }: AuditQuery): number {
  return Math.min(Math.max(limit, 1), MAX_LIMIT);
}

export function parsePage({ records, next }: TextPage): AuditPage {
  return { records: records.map((text) => JSON.parse(text) as AuditRecord), next };
}
