import { Router } from "express";
import type { Request, Response } from "express";
import type { AuditStore } from "../audit/store.ts";
import type { UsageQuery } from "../audit/usage.ts";
import { refuse, type Problem } from "./answers.ts";
import { readAuditQuery } from "./audit-query.ts";

const PARAMETERS = new Set(["client", "since", "until"]);

/** Requests without a token, as `client` names them: no fingerprint reads so. */
const ANONYMOUS = "none";

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
export function usageApi(audit: AuditStore | undefined): Router {
  const router = Router({ caseSensitive: true });
  if (!audit) {
    router.get(["/clients", "/routes", "/days"], (_request, response) => {
      refuse(response, 404, "Auditing is off (AUDIT=off): nothing is counted.");
    });
    return router;
  }
  router.get("/clients", answer("clients", audit.clients));
  router.get("/routes", answer("routes", audit.usage));
  router.get("/days", answer("days", audit.days));
  return router;
}

const answer = (name: string, read: Reader) => async (request: Request, response: Response) => {
  const { query, problems } = readUsageQuery(request.query);
  if (problems.length > 0) return refuse(response, 400, problems);
  response.json({ [name]: await read(query) });
};

function readUsageQuery(given: Readonly<Record<string, unknown>>): {
  query: UsageQuery;
  problems: readonly Problem[];
} {
  const anonymous = given["client"] === ANONYMOUS;
  const { client: _none, ...others } = given;
  const { query, problems } = readAuditQuery(anonymous ? others : given);
  const unknown = Object.keys(query).filter((name) => !PARAMETERS.has(name));
  const reason = `Use ${[...PARAMETERS].join(", ")}.`;
  return {
    query: { ...query, ...(anonymous && { client: null }) },
    problems: [...problems, ...unknown.map((parameter) => ({ reason, parameter }))],
  };
}
