import { randomBytes, randomUUID } from "node:crypto";
import { header, type AlphaRequest } from "./exchange.ts";

/** W3C Trace Context, version 00. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace a request belongs to: its own, or a new one. */
export function traceparentOf(request: AlphaRequest): string {
  const given = header(request, "traceparent");
  if (given !== undefined && TRACEPARENT.test(given)) return given;
  return `00-${randomBytes(16).toString("hex")}-${randomBytes(8).toString("hex")}-01`;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The id of a request: the client's own where it is harmless in headers, logs and queries. */
export const requestIdOf = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
