/** Removes the records of one client from segments that it shares with others. */
import type { IndexRow } from "./record-row.ts";

/** The subject of an erasure. */
export interface EraseRequest {
  /** The keys of the client. */
  readonly keys: readonly string[];
  /** The command that erases it. */
  readonly command: string;
}

/** An entry about an erased client, without its name. It is kept as long as summaries. */
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

/** The place of a record that its segment lacks. */
const MISSING = 2 ** 31 - 1;

/** A record of a segment. */
interface ErasedRow extends Pick<IndexRow, "start" | "size"> {
  readonly isErased: boolean;
}

/**
 * Removes the records of a client from a decompressed segment, and returns the new places of the others. Records
 * beyond the end of a damaged segment stay unreadable.
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
