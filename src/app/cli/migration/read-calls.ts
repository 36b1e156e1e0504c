/** Reads the calls of records or of an HTTP Archive. */
import type { AuditQuery } from "../../../audit/index.ts";
import {
  type HarOptions,
  isHar,
  observedCall,
  type ObservedCall,
  readHar,
} from "../../../migration/index.ts";
import { matchesQuery, readRecords } from "../../../compare/index.ts";
import type { RecordSource } from "../compare/record-source.ts";

/** Reads the first chunk of a source. @returns the chunk, and all chunks */
async function peek(chunks: AsyncIterable<string>): Promise<[first: string, all: AsyncIterable<string>]> {
  const iterator = chunks[Symbol.asyncIterator]();
  const { value: first = "", done } = await iterator.next();
  async function* all(): AsyncGenerator<string> {
    yield first;
    if (!done) yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return [first, all()];
}

/**
 * Reads the calls of an archive or of records.
 *
 * @returns undefined for a record that `query` does not select, or that is not a call of the old API
 * @throws {InvalidHarError} {InvalidExportError}
 */
export async function* readCalls(
  { chunks }: RecordSource,
  { query, ...options }: HarOptions & { readonly query: AuditQuery },
): AsyncGenerator<ObservedCall | undefined> {
  const [first, all] = await peek(chunks);
  if (isHar(first)) {
    yield* readHar(all, options);
    return;
  }
  for await (const record of readRecords(all))
    yield matchesQuery(record, query) ? observedCall(record, options.directory) : undefined;
}
