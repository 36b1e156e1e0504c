import type { RequestHandler } from "express";
import { sendErrors } from "./responses.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/** What `Sec-Fetch-Site` says of a page of the same origin, and of a user who asks without a page. */
const OWN_SITES = new Set(["same-origin", "none"]);

/**
 * Refuses what changes something where a page of another origin asks for it: without an admin token nothing else
 * would keep a web page that an operator visits from sending it (cross-site request forgery). Browsers send
 * `Origin` with every such request, or at least `Sec-Fetch-Site` (Fetch Metadata); programs send neither.
 */
export const guardOrigin: RequestHandler = function guardOrigin(request, response, next) {
  const { origin, host = "", "sec-fetch-site": site = "none" } = request.headers;
  const isOwn = origin === undefined || hostOf(origin) === host.toLowerCase();
  if (SAFE.has(request.method) || (isOwn && OWN_SITES.has(site))) return next();
  return sendErrors(response, 403, "A page of another origin can't change anything here.");
};

/** `null`, which sandboxed pages send, is no host. */
function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
