import type { RequestHandler } from "express";
import { sendErrors } from "./responses.ts";

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/**
 * On loopback, answers only requests that were sent to a loopback name.
 *
 * A web page can point a name of its own at 127.0.0.1 and then read this listener through its visitor's
 * browser (DNS rebinding); the `Host` header still tells. Bound elsewhere, names are the operator's business.
 */
export function guardHost(bound: string | undefined): RequestHandler {
  const own = bound?.includes(":") && !bound.startsWith("[") ? `[${bound}]` : bound;
  const guarded = own !== undefined && (LOOPBACK.includes(own) || own.startsWith("127."));
  const names = new Set([...LOOPBACK, own]);

  return function guardHost(request, response, next) {
    const name = (request.headers.host ?? "").toLowerCase().replace(/:\d+$/, "");
    if (!guarded || names.has(name)) return next();
    return sendErrors(response, 421, "This listener answers to its loopback names only, e.g. localhost.");
  };
}
