import type { RequestHandler } from "express";
import { sendErrors } from "./responses.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses what changes something where a page of another origin asks for it: without an admin token nothing else
 * would keep a web page that an operator visits from sending it (cross-site request forgery). Browsers send
 * `Origin` with every such request; programs send none.
 */
export const guardOrigin: RequestHandler = function guardOrigin(request, response, next) {
  const { origin, host = "" } = request.headers;
  if (SAFE.has(request.method) || origin === undefined || hostOf(origin) === host.toLowerCase())
    return next();
  return sendErrors(response, 403, "A page of another origin can't change anything here.");
};

/** `null`, which sandboxed pages send, is no host. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
