import type { FilterHeaders } from "../../pack/index.ts";
import type { AuditRecord } from "../record/record.ts";
import { UNREADABLE } from "../store/segment.ts";
import { tryReadRecord } from "../store/read-record.ts";
import { CSV_HEAD, csvLine } from "./csv.ts";
import { HAR_HEAD, harEntries, harTail } from "./har.ts";

/** A format: how it is served, and how records are written. */
interface Format {
  readonly contentType: string;
  /** Whether the texts are compressed as one zstd frame. */
  readonly isCompressed?: true;
  readonly head: string;
  /** The text between two pieces. */
  readonly separator: string;
  /** @param damaged the number of omitted records */
  tail(damaged: number): string;
  /**
   * The pieces of a record.
   *
   * @param text The stored text
   * @param filterHeaders Names of the headers that contain filters, for HAR. If they are missing, HAR files contain no
   *   filters
   * @returns undefined for a damaged record
   */
  write(text: string, filterHeaders: FilterHeaders): readonly string[] | undefined;
}

const LINES = { head: "", separator: "", tail: () => "" } as const;

/** Writes the stored texts, even of damaged records. Unreadable texts are omitted. */
const writeText = (text: string): readonly string[] | undefined =>
  text === UNREADABLE ? undefined : [`${text}\n`];

/** Writes the pieces of a record, unless it is damaged. */
function writeRecord<Result>(text: string, write: (record: AuditRecord) => Result): Result | undefined {
  const record = tryReadRecord(text);
  return record && write(record);
}

/** All export formats by their names, which are also the extensions of the files. */
const FORMATS = {
  ndjson: { ...LINES, contentType: "application/x-ndjson", write: writeText },
  "ndjson.zst": { ...LINES, contentType: "application/zstd", isCompressed: true, write: writeText },
  csv: {
    ...LINES,
    contentType: "text/csv; charset=utf-8; header=present",
    head: CSV_HEAD,
    write: (text) => writeRecord(text, (record) => [csvLine(record)]),
  },
  har: {
    contentType: "application/json",
    head: HAR_HEAD,
    separator: ",\n",
    tail: harTail,
    write: (text, filterHeaders) =>
      writeRecord(text, (record) => harEntries(record, filterHeaders).map((entry) => JSON.stringify(entry))),
  },
} satisfies Readonly<Record<string, Format>>;

/** The name of an export format. */
export type ExportFormat = keyof typeof FORMATS;

/** The names of all export formats. */
export const EXPORT_FORMATS = Object.keys(FORMATS) as readonly ExportFormat[];

/** Whether a value is the name of an export format. */
export const isExportFormat = (name: unknown): name is ExportFormat =>
  EXPORT_FORMATS.some((known) => known === name);

export const exportFormat = (name: ExportFormat): Format => FORMATS[name];
