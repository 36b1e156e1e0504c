import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import type { AuditQuery, AuditStore } from "../store/store.ts";
import { exportFormat, type ExportFormat, type WriterOptions } from "./formats.ts";

/** Options of {@link exportTexts}. */
export interface ExportOptions {
  readonly format: ExportFormat;
  /** `limit` and `before` are ignored: all matching records are exported. */
  readonly query: AuditQuery;
  readonly filterHeaders?: WriterOptions["filterHeaders"];
  /** Called with the number of exported records after each page. */
  readonly onRecords?: (done: number) => void;
  /**
   * Called at the end with the number of damaged records, if there are any. Formats that parse records leave them
   * out.
   */
  readonly onDamaged?: (records: number) => void;
}

/** Records of one read. The number is small, because they are all in memory, and other queries run in between. */
const PAGE_ROWS = 100;

/**
 * Exports all matching records, newest first, as pieces of text. Only one page is in memory at a time. Records that are
 * stored meanwhile are not exported.
 *
 * @throws {AuditUnavailableError} If the store can't be read, possibly after some pieces.
 */
export async function* exportTexts(
  store: Pick<AuditStore, "texts">,
  { format, query, filterHeaders, onRecords, onDamaged }: ExportOptions,
): AsyncGenerator<string, void, undefined> {
  let damaged = 0;
  const writer = exportFormat(format).createWriter({ filterHeaders, onDamaged: () => (damaged += 1) });
  if (writer.head) yield writer.head;
  let before: string | null | undefined;
  let separator = "";
  let done = 0;
  do {
    const { records, next } = await store.texts({ ...query, limit: PAGE_ROWS, ...(before && { before }) });
    const page = writer.page(records);
    if (page) {
      yield separator + page;
      separator = writer.separator;
    }
    done += records.length;
    onRecords?.(done);
    before = next;
  } while (before);
  const tail = writer.tail(damaged);
  if (tail) yield tail;
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
