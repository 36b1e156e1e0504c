import { JsonText } from "./json-text.ts";
import type { AuditRecord, RecordedBody } from "./record.ts";

/** A record that waits in a queue. Its bodies are JSON texts, which keep no larger buffers in memory. */
export interface HeldRecord {
  readonly record: AuditRecord;
  /** Approximate size in bytes. */
  readonly size: number;
}

/** Approximate size of a record without bodies in bytes. */
const HEAD_BYTES = 1000;

/** Returns the same bytes, copied if they would keep a larger buffer in memory. */
const ownBytes = (bytes: Buffer): Buffer =>
  bytes.buffer.byteLength > 2 * bytes.length ? Buffer.from(bytes) : bytes;

interface WithBodies {
  readonly body?: RecordedBody;
  readonly response?: RecordedBody;
}

/** Prepares a record to wait in a queue. */
export function holdRecord(record: AuditRecord): HeldRecord {
  let size = HEAD_BYTES;

  function hold(body: RecordedBody): RecordedBody {
    if (typeof body === "string") {
      size += body.length;
      return body;
    }
    const held = new JsonText(body instanceof JsonText ? ownBytes(body.bytes) : JSON.stringify(body));
    size += held.bytes.length;
    return held;
  }

  const holdBodies = <T extends WithBodies>(exchange: T): T => ({
    ...exchange,
    ...(exchange.body !== undefined && { body: hold(exchange.body) }),
    ...(exchange.response !== undefined && { response: hold(exchange.response) }),
  });
  const held = { ...record, alpha: holdBodies(record.alpha), v4: record.v4.map(holdBodies) };
  return { record: held, size };
}
