import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import type { AuditQuery, AuditStore } from "../store/store.ts";
import type { FilterHeaders } from "../../pack/index.ts";
import { exportFormat, type ExportFormat } from "./formats.ts";

/** Options of {@link exportTexts}. */
export interface ExportOptions {
  readonly format: ExportFormat;
  /** `limit` and `before` are ignored: all matching records are exported. */
  readonly query: AuditQuery;
  /** Names of the headers that contain filters, for HAR. */
  readonly filterHeaders?: FilterHeaders | undefined;
  /** Called with the number of exported records after each page. */
  readonly onRecords?: (done: number) => void;
  /** Called at the end with the number of damaged records, if there are any. Formats that parse records omit them. */
  readonly onDamaged?: (records: number) => void;
}

/** Maximum number of records per read. It is small, because they are all in memory, and other queries run in between. */
const PAGE_ROWS = 100;

/**
 * Exports all matching records, newest first, as pieces of text. Only one page is in memory at a time. Records that are
 * stored in the meantime are not exported.
 *
 * @throws {AuditUnavailableError} If the store can't be read, possibly after some pieces.
 */
export async function* exportTexts(
  store: Pick<AuditStore, "texts">,
  { format, query, filterHeaders = {}, onRecords, onDamaged }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  const { head, separator, tail, write } = exportFormat(format);
  if (head) yield head;
  let before: string | null | undefined;
  let isFirst = true;
  let damaged = 0;
  let done = 0;
  do {
    const { records, next } = await store.texts({ ...query, limit: PAGE_ROWS, ...(before && { before }) });
    const written = records.map((text) => write(text, filterHeaders));
    damaged += written.filter((pieces) => pieces === undefined).length;
    const page = written.flatMap((pieces) => pieces ?? []).join(separator);
    if (page) yield isFirst ? page : separator + page;
    isFirst &&= page === "";
    done += records.length;
    onRecords?.(done);
    before = next;
  } while (before);
  const end = tail(damaged);
  if (end) yield end;
  if (damaged > 0) onDamaged?.(damaged);
}

/**
 * Writes the texts of an export to a stream as fast as it accepts them: as they are, or compressed as one zstd frame. An
 * export that fails leaves an incomplete frame, which `zstd -t` rejects.
 *
 * @param options `end: false` leaves the stream open.
 * @throws The error of the texts or of the stream.
 */
export async function writeExport(
  texts: AsyncIterable<string>,
  format: ExportFormat,
  target: NodeJS.WritableStream,
  options?: { readonly end: false },
): Promise<void> {
  const source = Readable.from(texts, { highWaterMark: 1 });
  const compression = exportFormat(format).isCompressed ? [createZstdCompress()] : [];
  await pipeline([source, ...compression, target], { ...options });
}
