/** Removes the records of one client from segments that it shares with others. */
import type { IndexRow } from "./record-row.ts";

/** The subject of an erasure. */
export interface EraseRequest {
  /** The keys of the client. */
  readonly keys: readonly string[];
  /** The command that erases it. */
  readonly command: string;
}

/** An entry about a client that was erased, without its name. It is kept as long as summaries. */
export interface Erasure {
  /** ISO 8601 with milliseconds, UTC. */
  readonly time: string;
  readonly command: string;
  /** Erased records, rows of summaries, and tokens. */
  readonly records: number;
  readonly summaries: number;
  readonly tokens: number;
}

/** The result of one step of an erasure. */
export interface EraseStep {
  readonly records: number;
  /** Where the next step continues; undefined after the last one. */
  readonly next: number | undefined;
}

/** The place of a record whose segment lacks it: no segment has it. */
const MISSING = 2 ** 31 - 1;

/** A record of a segment. */
interface ErasedRow extends Pick<IndexRow, "start" | "size"> {
  readonly isErased: boolean;
}

/**
 * The records of a decompressed segment without those of a client, and the places of the others. Those that
 * are behind the end of a damaged segment remain unreadable.
 */
export function eraseRows<Row extends ErasedRow>(
  segment: Uint8Array,
  rows: readonly Row[],
): { readonly bytes: Buffer; readonly kept: readonly Row[] } {
  let next = 0;
  const pieces: Uint8Array[] = [];
  const kept = rows
    .filter(({ isErased }) => !isErased)
    .map((row) => {
      const piece = segment.subarray(row.start, row.start + row.size);
      if (piece.length !== row.size) return { ...row, start: MISSING };
      pieces.push(piece);
      const start = next;
      next += row.size;
      return { ...row, start };
    });
  return { bytes: Buffer.concat(pieces), kept };
}
