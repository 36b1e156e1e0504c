import { writeRecord, type SerializedRecord } from "./record-text.ts";

/** Bytes of a chunk. */
const CHUNK_BYTES = 1024 * 1024;
/** Larger records get a chunk of their own. A shared chunk has less than this unused at its end. */
const MAX_SHARED_BYTES = CHUNK_BYTES / 4;
/**
 * Maximum number of free chunks, enough for a few groups of rows. An unused chunk becomes garbage that V8 only finds
 * in a full garbage collection, and some 60 MB of it trigger one.
 */
const MAX_FREE = 16;

/** A chunk of memory with records that wait for their commit. */
export interface Chunk {
  readonly bytes: Buffer;
  /** Number of records in it, plus one while records are added. */
  users: number;
}

/** Where a record is in memory, as one line of JSON in UTF-8. */
export interface RecordPlace {
  readonly chunk: Chunk;
  readonly start: number;
  /** In bytes, with the line feed. */
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
  /** Bytes of the open chunk that are written. */
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

  /** Frees the chunk of a record if no other record is in it. */
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
