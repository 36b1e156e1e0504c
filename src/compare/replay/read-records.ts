import { Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { z } from "zod";
import { errorText, parseJson } from "../../base/index.ts";
import {
  type AuditQuery,
  type AuditRecord,
  clientsOf,
  isOfClients,
  LANES,
  type ValueFilter,
} from "../../audit/index.ts";

/** The file is not an audit export. The message contains the line. */
export class InvalidExportError extends Error {
  override readonly name = "InvalidExportError";
  readonly code = "AG_EXPORT_INVALID";
}

/** Maximum number of characters of a line. No record is longer. */
const MAX_LINE_LENGTH = 64 * 1024 * 1024;
/** Maximum nesting of a record. Its bodies are nested as deeply as clients and v4 sent them. */
const MAX_DEPTH = 200;

const text = z.string().nullable();

/** The members of a record that a replay needs. Further members are accepted. */
const recordSchema = z.looseObject({
  id: z.string(),
  time: z.string(),
  lane: z.enum(LANES),
  client: z.looseObject({
    fingerprint: text,
    address: z.string(),
    application: z.string().optional(),
    label: z.string().optional(),
  }),
  alpha: z.looseObject({
    method: z.string(),
    path: z.string(),
    route: text,
    query: z.string(),
    filter: text,
    status: z.int(),
  }),
  v4: z.array(
    z.looseObject({ method: z.string(), path: z.string(), filter: text, status: z.int().nullable() }),
  ),
});

/** The first bytes of a zstd frame (RFC 8878, section 3.1.1). JSON never starts with them. */
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Decodes the bytes of an NDJSON export, which may be compressed with zstd. @throws {InvalidExportError} */
export async function* decodeExport(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const chunks = bytes[Symbol.asyncIterator]();
  let start = Buffer.alloc(0);
  while (start.length < ZSTD_MAGIC.length) {
    const { done, value } = await chunks.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  const source = Readable.from(resume(start, chunks), { objectMode: false });
  const isCompressed = start.subarray(0, ZSTD_MAGIC.length).equals(ZSTD_MAGIC);
  yield* isCompressed ? decompress(source) : utf8TextOf(source);
}

async function* decompress(source: Readable): AsyncGenerator<string> {
  const zstd = createZstdDecompress();
  source.on("error", (error) => zstd.destroy(error));
  try {
    yield* utf8TextOf(source.pipe(zstd));
  } catch (error) {
    if (!/^Z(?:STD)?_/.test((error as { code?: string }).code ?? "")) throw error;
    throw new InvalidExportError(`The compressed export is damaged or incomplete: ${errorText(error)}`);
  }
}

async function* resume(start: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (start.length > 0) yield start;
  yield* { [Symbol.asyncIterator]: () => rest };
}

const utf8TextOf = (stream: Readable): AsyncIterable<string> =>
  stream.setEncoding("utf8") as AsyncIterable<string>;

function parseRecord(line: string, number: number): AuditRecord {
  try {
    return recordSchema.parse(parseJson(line, { maxDepth: MAX_DEPTH })) as unknown as AuditRecord;
  } catch {
    throw new InvalidExportError(
      `Line ${number} is not an audit record. Create the file with "alpha-gateway export --format ndjson".`,
    );
  }
}

/** Splits lines. Each chunk is scanned once, so that the time is linear even for long lines. */
async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first = "", ...others] = chunk.split("\n");
    parts.push(first);
    length += first.length;
    if (length > MAX_LINE_LENGTH)
      throw new InvalidExportError(
        'A line is longer than any audit record. Create the file with "alpha-gateway export --format ndjson".',
      );
    const last = others.pop();
    if (last === undefined) continue;
    yield parts.join("");
    yield* others;
    parts = [last];
    length = last.length;
  }
  yield parts.join("");
}

/** Reads the records of an NDJSON export, one at a time. @throws {InvalidExportError} */
export async function* readRecords(chunks: AsyncIterable<string>): AsyncGenerator<AuditRecord> {
  let number = 0;
  for await (const line of splitLines(chunks)) {
    number += 1;
    if (line.trim() !== "") yield parseRecord(line, number);
  }
}

/** Whether a record matches a query. Times are compared as texts: all come from `Date.toISOString`. */
export function matchesQuery({ time, lane, client, alpha }: AuditRecord, query: AuditQuery): boolean {
  const isSame: Record<ValueFilter, boolean> = {
    lane: query.lane === undefined || lane === query.lane,
    route: query.route === undefined || alpha.route === query.route,
    status: query.status === undefined || alpha.status === query.status,
  };
  return (
    isOfClients(client, clientsOf(query)) &&
    Object.values(isSame).every(Boolean) &&
    (query.since === undefined || time >= query.since) &&
    (query.until === undefined || time < query.until)
  );
}
