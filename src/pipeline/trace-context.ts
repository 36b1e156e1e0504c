import { randomFillSync, randomUUID } from "node:crypto";
import { header, type AlphaRequest } from "./context.ts";

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Bytes of both ids, and hexadecimal digits of the first. */
const TRACE_END = 16 + 8;
const TRACE_DIGITS = 32;

/** Drawn for many traces at once: each draw costs the same, however little is drawn. */
const drawn = Buffer.alloc(TRACE_END * 128);
let used = drawn.length;

function newTrace(): string {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const ids = drawn.toString("hex", used, used + TRACE_END);
  used += TRACE_END;
  return `00-${ids.slice(0, TRACE_DIGITS)}-${ids.slice(TRACE_DIGITS)}-01`;
}

/** The trace a request belongs to: its own, or a new one. */
export function traceparentOf(request: AlphaRequest): string {
  const given = header(request, "traceparent");
  if (given !== undefined && TRACEPARENT.test(given)) return given;
  return newTrace();
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The id of a request: the client's own where it is harmless in headers, logs and queries. */
export const requestIdOf = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
