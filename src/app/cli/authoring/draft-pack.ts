/** `init --old --new`: a draft of a pack from the OpenAPI documents of both APIs. */
import type { Command } from "commander";
import { NO_CLIENTS } from "../../../audit/index.ts";
import {
  type ApiRoute,
  type CountUses,
  draftFiles,
  findRoute,
  type Nesting,
  type NewFile,
  readApi,
} from "../../../authoring/index.ts";
import { readOpenapi, UnreadableDocumentError } from "../../../migration/index.ts";
import { readCalls } from "../migration/read-calls.ts";
import { readRecordFilters } from "../migration/record-filters.ts";
import { openSource } from "../compare/record-source.ts";

export interface DraftFlags {
  /** OpenAPI documents of the old and of the new API. */
  readonly old?: string | undefined;
  readonly new?: string | undefined;
  /** Recorded calls: a file, `-` for standard input, a folder, or the address of an audit store. */
  readonly from?: string | undefined;
}

/** The maximum size of a file of a pack, in bytes, and the maximum number of files of a draft. */
const [MAX_FILE_BYTES, MAX_BYTES] = [256 * 1024, 4 * 1024 * 1024];

const readDocument = async (file: string, nesting: Nesting) => {
  const document = await readOpenapi(file);
  try {
    return readApi(document, nesting);
  } catch (error) {
    if (!(error instanceof UnreadableDocumentError)) throw error;
    throw new UnreadableDocumentError(`${file} can't be read. ${error.message}`, { cause: error });
  }
};

/** Counts recorded calls by route. @throws {InvalidHarError} {InvalidExportError} */
async function countCalls(
  from: string,
  routes: readonly ApiRoute[],
  basePath: string,
  command: Command,
): Promise<CountUses> {
  const query = readRecordFilters({}, command);
  const find = findRoute(routes, basePath);
  const counts = new Map<ApiRoute, number>();
  const source = await openSource(from, query);
  try {
    const options = { filterHeader: undefined, directory: NO_CLIENTS, query, base: undefined };
    for await (const call of readCalls(source, options)) {
      const route = call && find(call.method, call.path);
      if (route) counts.set(route, (counts.get(route) ?? 0) + call.count);
    }
  } finally {
    await source.close();
  }
  return (route) => counts.get(route) ?? 0;
}

/** Checks the sizes of files, because a pack can't load larger ones. */
function checkSizes(files: readonly NewFile[]): void {
  const sizes = files.map(([, text]) => Buffer.byteLength(text));
  const [largest, all] = [Math.max(...sizes), sizes.reduce((sum, size) => sum + size, 0)];
  if (largest <= MAX_FILE_BYTES && all <= MAX_BYTES) return;
  throw new UnreadableDocumentError(
    `The draft would be larger than a pack: a file of it has ${Math.ceil(largest / 1024)} kB of at most ${MAX_FILE_BYTES / 1024}, and all of them ${Math.ceil(all / 1024)} kB of at most ${MAX_BYTES / 1024}. Leave paths out of the old document, and draft them as a pack of their own.`,
  );
}

/**
 * Returns the files of a draft.
 *
 * @throws {UnreadableDocumentError} {InvalidHarError} {InvalidExportError} {AuditUnavailableError}
 */
export async function draftPack(
  { old = "", new: now = "", from }: DraftFlags,
  command: Command,
): Promise<NewFile[]> {
  const [before, after] = [await readDocument(old, "named"), await readDocument(now, "all")];
  const countUses =
    from === undefined ? undefined : await countCalls(from, before.routes, before.basePath, command);
  const files = draftFiles(before, after, countUses);
  checkSizes(files);
  return files;
}
