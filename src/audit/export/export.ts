import type { AuditRecord } from "../record.ts";
import type { AuditQuery, AuditStore } from "../store.ts";
import { CSV_HEAD, csvLine } from "./csv.ts";
import { HAR_HEAD, HAR_TAIL, harEntries } from "./har.ts";

export const EXPORT_FORMATS = ["ndjson", "csv", "har"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ExportOptions {
  readonly format: ExportFormat;
  /** `limit` and `before` have no meaning here: everything that matches is exported. */
  readonly query: AuditQuery;
  /** The header that carries a filter, for HAR; without one filters are left out of it. */
  readonly filterHeader: string | undefined;
  /** Hears how many records are out. */
  readonly onRecords?: (done: number) => void;
}

export const isExportFormat = (format: unknown): format is ExportFormat =>
  EXPORT_FORMATS.some((known) => known === format);

/** Records of one read: few, since that is what is held in memory, and others read in between. */
const AT_ONCE = 100;

interface Writer {
  readonly head: string;
  /** The records of a page, each a JSON text. */
  readonly page: (records: readonly string[], first: boolean) => string;
  readonly tail: string;
}

/**
 * Everything that matches, the newest first, as pieces of text: one page of the store in memory at a time.
 * What comes in meanwhile is newer than the export, and not part of it.
 *
 * @throws {AuditUnavailable} in mid-course, when the store cannot be read any more.
 */
export async function* exportTexts(
  store: Pick<AuditStore, "texts">,
  { format, query, filterHeader, onRecords }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  const { head, page, tail } = writerOf(format, filterHeader);
  if (head) yield head;
  let before: string | null | undefined;
  let first = true;
  let done = 0;
  do {
    const { records, next } = await store.texts({ ...query, limit: AT_ONCE, ...(before && { before }) });
    if (records.length > 0) yield page(records, first);
    done += records.length;
    onRecords?.(done);
    first = false;
    before = next;
  } while (before);
  if (tail) yield tail;
}

function writerOf(format: ExportFormat, filterHeader: string | undefined): Writer {
  if (format === "ndjson") {
    return { head: "", page: (records) => records.map((record) => `${record}\n`).join(""), tail: "" };
  }
  if (format === "csv") {
    return { head: CSV_HEAD, page: (records) => records.map(parse).map(csvLine).join(""), tail: "" };
  }
  return {
    head: HAR_HEAD,
    page(records, first) {
      const entries = records.flatMap((record) => harEntries(parse(record), filterHeader));
      return (first ? "" : ",\n") + entries.map((entry) => JSON.stringify(entry)).join(",\n");
    },
    tail: HAR_TAIL,
  };
}

function parse(record: string): AuditRecord {
  return JSON.parse(record) as AuditRecord;
}
