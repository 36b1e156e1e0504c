import { writeRecord, type SerializedRecord } from "./record-text.ts";

/** Number of bytes of a chunk. */
const CHUNK_BYTES = 1024 * 1024;
/**
 * Maximum size of a record in a shared chunk. Larger records get their own chunk. The unused rest of a shared chunk is
 * smaller than this.
 */
const MAX_SHARED_BYTES = CHUNK_BYTES / 4;
/**
 * Maximum number of free chunks, enough for a few groups of rows. An unused chunk becomes garbage that V8 only finds in
 * a full garbage collection, and about 60 MB of garbage trigger one.
 */
const MAX_FREE = 16;

/** A chunk of memory that contains records which wait for their commit. */
export interface Chunk {
  readonly bytes: Buffer;
  /** Number of records in the chunk, plus one while records are added. */
  users: number;
}

/** The position of a record in memory, as one line of JSON in UTF-8. */
export interface RecordPlace {
  readonly chunk: Chunk;
  readonly start: number;
  /** The size in bytes, including the line feed. */
  readonly size: number;
}

/**
 * The memory of a queue of records. Records are copied into chunks that are reused. Separate buffers would survive
 * several garbage collections while they wait for a commit, which costs more than the copies.
 *
 * Records that are released in the order in which they were written use at most 4/3 of their size, and two chunks.
 */
export class RecordMemory {
  readonly #free: Chunk[];
  #open: Chunk | undefined;
  /** Number of used bytes of the open chunk. */
  #used = 0;

  /** @param free Free chunks. Several memories can share them. */
  constructor(free: Chunk[] = []) {
    this.#free = free;
  }

  /** Copies a record. */
  write(record: SerializedRecord): RecordPlace {
    const { size } = record;
    const place = size > MAX_SHARED_BYTES ? createPlace(size) : this.#reserve(size);
    writeRecord(record, place.chunk.bytes, place.start);
    return place;
  }

  /** Releases a record, and frees the chunk if it contains no other record. */
  release(chunk: Chunk): void {
    chunk.users -= 1;
    const isFree = chunk.users === 0 && chunk.bytes.length === CHUNK_BYTES;
    if (isFree && this.#free.length < MAX_FREE) this.#free.push(chunk);
  }

  #reserve(size: number): RecordPlace {
    if (this.#open?.users === 1) this.#used = 0;
    if (!this.#open || this.#used + size > CHUNK_BYTES) this.#open = this.#openNext();
    const chunk = this.#open;
    const start = this.#used;
    chunk.users += 1;
    this.#used += size;
    return { chunk, start, size };
  }

  #openNext(): Chunk {
    if (this.#open) this.release(this.#open);
    const chunk = this.#free.pop() ?? createChunk(CHUNK_BYTES);
    chunk.users = 1;
    this.#used = 0;
    return chunk;
  }
}

const createChunk = (size: number): Chunk => ({ bytes: Buffer.allocUnsafeSlow(size), users: 1 });

const createPlace = (size: number): RecordPlace => ({ chunk: createChunk(size), start: 0, size });
