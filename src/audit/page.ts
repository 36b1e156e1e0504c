import type { AuditRecord } from "./record.ts";
import { DEFAULT_LIMIT, GREATEST_LIMIT } from "./store.ts";
import type { AuditPage, AuditQuery, TextPage } from "./store.ts";

/** Characters of one page, so that a page of large records does not fill the memory. One record is always given. */
export const PAGE_SIZE = 16 * 1024 * 1024;

export function limitOf({ limit = DEFAULT_LIMIT }: AuditQuery): number {
  return Math.min(Math.max(limit, 1), GREATEST_LIMIT);
}

export function parsePage({ records, next }: TextPage): AuditPage {
  return { records: records.map((text) => JSON.parse(text) as AuditRecord), next };
}
