import { randomUUID } from "node:crypto";
import { createTraceparent, parseTraceparent } from "../observability/tracing/traceparent.ts";
import { header, type AlphaRequest } from "./context.ts";

/** The `traceparent` of a request: the client's own if it is valid, or that of a new trace. */
export function traceparentOf(request: AlphaRequest): string {
  const given = header(request, "traceparent");
  return given !== undefined && parseTraceparent(given) ? given : createTraceparent();
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The id of a request: the client's own where it is harmless in headers, logs and queries. */
export const requestIdOf = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();
