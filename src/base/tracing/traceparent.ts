import { randomFillSync } from "node:crypto";

/** A `traceparent` header, parsed (W3C Trace Context, version 00). */
interface Traceparent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** 8 bits. The lowest bit is set if the trace is sampled. */
  readonly traceFlags: number;
}

const TRACEPARENT = /^00-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/;

/** Parses a `traceparent` header. @returns undefined if it is missing or invalid. */
export function parseTraceparent(header: string | undefined): Traceparent | undefined {
  const [, traceId, spanId, flags = ""] = TRACEPARENT.exec(header ?? "") ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

/** Formats a `traceparent` header. All flags except `sampled` are omitted. */
export const formatTraceparent = ({ traceId, spanId, traceFlags }: Traceparent): string =>
  `00-${traceId}-${spanId}-${traceFlags & 1 ? "01" : "00"}`;

/** Returns the client's `traceparent` if it is valid, otherwise a new one. */
export const continueTrace = (given: string | undefined): string =>
  given !== undefined && parseTraceparent(given) ? given : createTraceparent();

const TRACE_ID_BYTES = 16;
const ID_BYTES = TRACE_ID_BYTES + 8;

/** Draws random bytes for many traces at once, because the cost does not depend on their number. */
class RandomIds {
  readonly #bytes = Buffer.alloc(ID_BYTES * 128);
  #used = this.#bytes.length;

  /** @returns the hexadecimal digits of the ids of a trace and of a span */
  next(): string {
    if (this.#used === this.#bytes.length) {
      randomFillSync(this.#bytes);
      this.#used = 0;
    }
    this.#used += ID_BYTES;
    return this.#bytes.toString("hex", this.#used - ID_BYTES, this.#used);
  }
}

const randomIds = new RandomIds();

/** Creates the `traceparent` of a new, sampled trace. */
function createTraceparent(): string {
  const ids = randomIds.next();
  const [traceId, spanId] = [ids.slice(0, 2 * TRACE_ID_BYTES), ids.slice(2 * TRACE_ID_BYTES)];
  return formatTraceparent({ traceId, spanId, traceFlags: 1 });
}
