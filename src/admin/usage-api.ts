import { Router } from "express";
import type { Request, Response } from "express";
import type { AuditStore } from "../audit/store.ts";
import type { UsageQuery } from "../audit/usage.ts";
import { sendErrors } from "./responses.ts";
import { readUsageQuery } from "./audit-query.ts";

type Reader = (query: UsageQuery) => Promise<readonly unknown[]>;

/**
 * The counts of the console's charts and tables, from the summaries of the audit store:
 *
 *     GET /api/usage/clients   clients, with requests, errors, first and last call
 *     GET /api/usage/routes    routes and statuses of each client
 *     GET /api/usage/days      alpha and native requests of each day
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
