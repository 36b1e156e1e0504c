import { Router } from "express";
import type { Request, Response } from "express";
import type { AuditStore } from "../audit/store.ts";
import type { UsageQuery } from "../audit/usage.ts";
import { sendErrors } from "./responses.ts";
import { readUsageQuery } from "./audit-query.ts";

type Reader = (query: UsageQuery) => Promise<readonly unknown[]>;

/**
 * What the console's charts and tables count, from the summaries of the audit store:
 *
 *     GET /api/usage/clients   who speaks alpha, how much, since when, with how many errors
 *     GET /api/usage/routes    what each of them calls
 *     GET /api/usage/days      requests of each day, in alpha and in v4's own dialect
 *
 * All take `client` (a fingerprint, or `none`), `since` and `until`.
 */
export function createUsageApi(audit: AuditStore | undefined): Router {
  const router = Router({ caseSensitive: true });
  if (!audit) {
    router.get(["/clients", "/routes", "/days"], (_request, response) => {
      sendErrors(response, 404, "Auditing is off (AUDIT=off): nothing is counted.");
    });
    return router;
  }
  router.get("/clients", handleUsage("clients", audit.clients));
  router.get("/routes", handleUsage("routes", audit.usage));
  router.get("/days", handleUsage("days", audit.days));
  return router;
}

const handleUsage = (name: string, read: Reader) => async (request: Request, response: Response) => {
  const { query, problems } = readUsageQuery(request.query);
  if (problems.length > 0) return sendErrors(response, 400, problems);
  response.json({ [name]: await read(query) });
};
