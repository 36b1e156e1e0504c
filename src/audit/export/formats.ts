import type { FilterHeaders } from "../../pack/index.ts";
import { UNREADABLE } from "../store/segment.ts";
import { tryReadRecord } from "../store/read-record.ts";
import type { AuditRecord } from "../record/record.ts";
import { CSV_HEAD, csvLine } from "./csv.ts";
import { HAR_HEAD, harEntries, harTail } from "./har.ts";

/** The writer of a format. */
export interface Writer {
  readonly head: string;
  /** Formats the records of a page, each a JSON text. Returns an empty text if none can be formatted. */
  page(records: readonly string[]): string;
  /** @param damaged How many records were left out. */
  tail(damaged: number): string;
  /** The text between two pages that are not empty. */
  readonly separator: string;
}

export interface WriterOptions {
  /** Names of the headers that contain filters, for HAR. Without them HAR files have no filters. */
  readonly filterHeaders?: FilterHeaders | undefined;
  /** Called for each damaged record. */
  readonly onDamaged: () => void;
}

interface Format {
  readonly contentType: string;
  /** Whether the texts are compressed as one zstd frame. */
  readonly isCompressed?: true;
  createWriter(options: WriterOptions): Writer;
}

/** The texts as they are stored, also of damaged records. Unreadable texts are left out. */
const createNdjsonWriter = ({ onDamaged }: WriterOptions): Writer => ({
  head: "",
  page: (records) =>
    records
      .map((record) => {
        if (record === UNREADABLE) onDamaged();
        return record === UNREADABLE ? "" : `${record}\n`;
      })
      .join(""),
  tail: () => "",
  separator: "",
});

/** Reads the records that are not damaged. */
const readEach = (texts: readonly string[], onDamaged: () => void): AuditRecord[] =>
  texts.flatMap((text) => {
    const record = tryReadRecord(text);
    if (record === undefined) onDamaged();
    return record ?? [];
  });

/** All export formats by their names, which are also the extensions of the files. */
const FORMATS = {
  ndjson: { contentType: "application/x-ndjson", createWriter: createNdjsonWriter },
  "ndjson.zst": {
    contentType: "application/zstd",
    isCompressed: true,
    createWriter: createNdjsonWriter,
  },
  csv: {
    contentType: "text/csv; charset=utf-8; header=present",
    createWriter: ({ onDamaged }) => ({
      head: CSV_HEAD,
      page: (records) => readEach(records, onDamaged).map(csvLine).join(""),
      tail: () => "",
      separator: "",
    }),
  },
  har: {
    contentType: "application/json",
    createWriter: ({ filterHeaders = {}, onDamaged }) => ({
      head: HAR_HEAD,
      page: (records) =>
        readEach(records, onDamaged)
          .flatMap((record) => harEntries(record, filterHeaders))
          .map((entry) => JSON.stringify(entry))
          .join(",\n"),
      tail: harTail,
      separator: ",\n",
    }),
  },
} satisfies Readonly<Record<string, Format>>;

/** The name of an export format. */
export type ExportFormat = keyof typeof FORMATS;

/** The names of all export formats. */
export const EXPORT_FORMATS = Object.keys(FORMATS) as readonly ExportFormat[];

/** Whether a value is the name of an export format. */
export const isExportFormat = (name: unknown): name is ExportFormat =>
  EXPORT_FORMATS.some((known) => known === name);

/** How a format is served: its media type, extension and writer. */
export const exportFormat = (name: ExportFormat): Format => FORMATS[name];
