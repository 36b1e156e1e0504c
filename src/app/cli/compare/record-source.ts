import { createReadStream, statSync } from "node:fs";
import { type AuditQuery, exportTexts, openExistingAuditStore } from "../../../audit/index.ts";
import { decodeExport } from "../../../compare/index.ts";

/** The text of recorded calls, in chunks. */
export interface RecordSource {
  /** The number of records, if it is known. */
  readonly count: number | undefined;
  readonly chunks: AsyncIterable<string>;
  readonly close: () => Promise<void>;
}

/**
 * Opens a source: a data folder, the `postgres://` address of an audit store, a file, or `-` for standard input.
 *
 * @param query Selects the records of a store. All records of a file are read.
 * @throws {AuditUnavailableError} {InvalidExportError} during the read
 */
export async function openSource(from: string, query: AuditQuery): Promise<RecordSource> {
  const isDatabase = /^postgres(ql)?:\/\//.test(from);
  const isFolder = statSync(from, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isDatabase && !isFolder) {
    const stream = from === "-" ? process.stdin : createReadStream(from);
    return { count: undefined, chunks: decodeExport(stream), close: async () => void stream.destroy() };
  }
  const store = await openExistingAuditStore({ DATA_DIR: from, DATABASE_URL: isDatabase ? from : undefined });
  let count: number;
  try {
    count = await store.count(query);
  } catch (error) {
    await store.close();
    throw error;
  }
  return {
    count,
    chunks: exportTexts(store, { format: "ndjson", query }),
    close: store.close,
  };
}
