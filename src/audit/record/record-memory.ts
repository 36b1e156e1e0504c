import { writeRecord, type SerializedRecord } from "./record-text.ts";

/** Bytes of a chunk. */
const CHUNK_BYTES = 1024 * 1024;
/** Larger records get a chunk of their own. A shared chunk has less than this unused at its end. */
const MAX_SHARED_BYTES = CHUNK_BYTES / 4;
/**
 * Maximum number of free chunks: as many as a few groups of rows need. A chunk that is not used again is garbage that V8
 * only finds in a full garbage collection, and some 60 MB of it start one.
 */
const MAX_FREE = 16;

/** Memory in which records wait for their commit. */
export interface Chunk {
  readonly bytes: Buffer;
  /** The records that wait in it, and one more while records are added. */
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
 * The memory of a queue of records. The records are copied to chunks that are used again. Buffers that wait for a commit
 * would survive several garbage collections, which then cost more than the copies.
 *
 * Records that are released in the order in which they were written use at most 4/3 of their size, and two chunks.
 */
export class RecordMemory {
  readonly #free: Chunk[];
  #open: Chunk | undefined;
  /** Bytes of the open chunk that are written. */
  #used = 0;

  /** @param free Free chunks, which several memories can share. */
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
