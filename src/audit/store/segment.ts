import { promisify } from "node:util";
import { constants, zstdCompress, zstdDecompress } from "node:zlib";
import type { RecentBytes } from "./sender-bytes.ts";
import { acceptedClients, type IndexRow, indexRow, type StoredRow, worthOf } from "./record-row.ts";
import type { CountedName } from "../usage/counted-names.ts";
import { dayNumber } from "../usage/usage.ts";

/**
 * Maximum bytes of a segment before compression, unless a single record is larger. Larger segments take less space,
 * but more time to read one record. A page may need a segment for each of its records.
 */
const SEGMENT_BYTES = 256 * 1024;

/**
 * How segments are compressed. Level 1 is fast enough for writing. The checksum detects damaged bytes. `zstd -t`
 * verifies it as well.
 */
const ZSTD_OPTIONS = {
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
};

/**
 * Records that are compressed together. All are of one UTC day and, if known, one priority. A client or network with a
 * large share of the batch has its own segments, so that its records can be deleted separately.
 */
export interface Segment {
  /** The owner of all records in the segment: see `RecentBytes`. */
  readonly owner: string;
  /** The rows, in the order of their records. */
  readonly rows: readonly IndexRow[];
  /** The position of the segment's records in the bytes of the batch. */
  readonly start: number;
  readonly end: number;
}

/** The rows of one commit. Their records are in one buffer, which can be transferred to a thread without a copy. */
export interface Batch {
  readonly segments: readonly Segment[];
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Counted names that are not stored yet. */
  readonly counted: readonly CountedName[];
}

/** Sizes of buffers are multiples of this number, so that a reused buffer is rarely too small. */
const BUFFER_STEP = 256 * 1024;

/**
 * Arranges the rows of one commit in segments. A duplicate row is written once.
 *
 * @param recent The bytes of earlier commits of this store. The bytes of this commit are added.
 * @param spare A buffer that is used if it is large enough.
 */
export function createBatch(
  rows: Iterable<StoredRow>,
  recent: RecentBytes,
  spare?: ArrayBuffer,
): Omit<Batch, "counted"> {
  const unique = [...new Map([...rows].map((row) => [row.id, row])).values()];
  const size = unique.reduce((sum, row) => sum + row.size, 0);
  const buffer =
    spare && spare.byteLength >= size ? spare : new ArrayBuffer(Math.ceil(size / BUFFER_STEP) * BUFFER_STEP);
  const bytes = new Uint8Array(buffer, 0, size);
  const segments: Segment[] = [];
  let at = 0;
  recent.add(unique);
  for (const group of groupRows(unique, recent)) {
    let open: { owner: string; rows: IndexRow[]; start: number; end: number } | undefined;
    for (const row of group) {
      const { chunk, start, size } = row;
      if (!open || at - open.start + size > SEGMENT_BYTES) {
        open = { owner: recent.ownerOf(row), rows: [], start: at, end: at };
        segments.push(open);
      }
      chunk.bytes.copy(bytes, at, start, start + size);
      open.rows.push(indexRow(row, at - open.start));
      at += size;
      open.end = at;
    }
  }
  return { segments, bytes };
}

/** Groups the rows by day, priority and owner, so that a segment can be deleted as a whole. */
function groupRows(rows: readonly StoredRow[], recent: RecentBytes): StoredRow[][] {
  const clients = acceptedClients(rows);
  const groups = Map.groupBy(rows, (row) => {
    const { client, status } = row;
    const accepted = row.accepted || Number(client !== null && clients.has(client));
    return `${dayNumber(row.time)} ${worthOf({ client, status, accepted })} ${recent.ownerOf(row)}`;
  });
  return [...groups.values()];
}

const compress = promisify(zstdCompress);

/** Compresses one segment, in another thread. */
export const compressSegment = (piece: Uint8Array): Promise<Buffer> => compress(piece, ZSTD_OPTIONS);

/** Compresses the segments of a batch sequentially. Each needs 1 MB of memory, which the next one reuses. */
export const compressBatch = ({ segments, bytes }: Pick<Batch, "segments" | "bytes">): Promise<Buffer[]> =>
  Array.fromAsync(segments, ({ start, end }) => compressSegment(bytes.subarray(start, end)));

/**
 * The text of each record of a segment that can't be decompressed. It is not a valid record, so readers omit and count
 * it.
 */
export const UNREADABLE = "";

/** The position of a record in a decompressed segment. */
type Place = Pick<IndexRow, "start" | "size">;

/** Returns the text of one record of a segment, without its line feed. @param bytes The decompressed segment. */
export const recordText = (bytes: Uint8Array, { start, size }: Place): string =>
  start >= 0 && size >= 1 && start + size <= bytes.length
    ? Buffer.from(bytes.buffer, bytes.byteOffset + start, size - 1).toString()
    : UNREADABLE;

/** Maximum size of a decompressed segment in bytes. It does not depend on the stored positions of its records. */
const MAX_SEGMENT_BYTES = 512 * 1024 * 1024;

/** Limits the size of the output: a damaged or foreign segment may expand to a terabyte of zeros. */
const limitOf = (places: readonly Place[]): { readonly maxOutputLength: number } => {
  const end = places.reduce((most, { start, size }) => Math.max(most, start + size), SEGMENT_BYTES);
  return { maxOutputLength: Math.min(end, MAX_SEGMENT_BYTES) };
};

const decompress = promisify(zstdDecompress);

/** Whether an error of `decompress` is caused by the bytes: damaged, missing, or too many. */
function isOfBytes(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ZSTD_error_memory_allocation") return false;
  return code.startsWith("ZSTD_error_") || code === "Z_BUF_ERROR" || code === "ERR_BUFFER_TOO_LARGE";
}

/**
 * Decompresses a segment, in another thread.
 *
 * @param places The positions of some of its records.
 * @returns undefined if it is damaged or too long, because other segments can still be read
 * @throws {Error} for a different reason, such as too little memory: the segment may be readable later
 */
export const tryDecompress = (data: Uint8Array, places: readonly Place[]): Promise<Buffer | undefined> =>
  decompress(data, limitOf(places)).catch((error: unknown) => {
    if (isOfBytes(error)) return undefined;
    throw error;
  });
