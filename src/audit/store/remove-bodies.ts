import { isObject } from "../../base/json/parse.ts";
import { tryParse } from "../record/json-text.ts";
import type { AuditRecord } from "../record/record.ts";
import { recordText } from "./segment.ts";
import type { IndexRow } from "./record-row.ts";
import { omittedBody } from "../record/truncate.ts";

/** The place of a record in a decompressed segment. */
type Place = Pick<IndexRow, "start" | "size">;

/** A segment without bodies. */
export interface BareSegment {
  /** Bytes of the decompressed segment. */
  readonly bytes: Buffer;
  /** The places of its records, in their order. */
  readonly places: readonly Place[];
}

const REMOVED = omittedBody(undefined, "removed, because AUDIT_SIZE_LIMIT was reached");

type Exchange = Pick<AuditRecord["alpha"], "body" | "response" | "checksum">;

const withoutBodies = (exchange: Exchange): object => ({
  ...exchange,
  // JSON leaves out undefined members.
  checksum: undefined,
  ...(exchange.body !== undefined && { body: REMOVED }),
  ...(exchange.response !== undefined && { response: REMOVED }),
});

/** Whether a text has calls like a record. Nothing else is checked here, because readers validate records. */
const hasCalls = (value: unknown): value is Pick<AuditRecord, "alpha" | "v4"> =>
  isObject(value) && isObject(value["alpha"]) && Array.isArray(value["v4"]) && value["v4"].every(isObject);

/** @returns undefined for a text that is no record. */
function withoutAnyBody(text: string): string | undefined {
  const record = tryParse(text)?.value;
  if (!hasCalls(record)) return undefined;
  return JSON.stringify({ ...record, alpha: withoutBodies(record.alpha), v4: record.v4.map(withoutBodies) });
}

/**
 * Removes the bodies of all records of a segment. Records that would not become shorter, and texts that are no
 * records, stay unchanged.
 */
export function removeBodies(segment: Uint8Array, places: readonly Place[]): BareSegment {
  let start = 0;
  const lines = places.map((place) => {
    const text = recordText(segment, place);
    const bare = withoutAnyBody(text);
    return Buffer.from(`${bare !== undefined && bare.length < text.length ? bare : text}\n`);
  });
  const moved = lines.map(({ length: size }) => {
    const place = { start, size };
    start += size;
    return place;
  });
  return { bytes: Buffer.concat(lines), places: moved };
}
