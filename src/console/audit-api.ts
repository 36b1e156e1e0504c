import { Router } from "express";
import type { Request, Response } from "express";
import type { AuditStore } from "../audit/store.ts";
import { refuse } from "./answers.ts";
import { readAuditQuery } from "./audit-query.ts";

/** `GET /api/audit` and `GET /api/audit/:id` (contract, "Admin listener"). */
export function auditApi(audit: AuditStore | undefined): Router {
  const router = Router({ caseSensitive: true });

  if (!audit) {
    router.get(["/", "/:id"], (_request, response) => {
      refuse(response, 404, "Auditing is off (AUDIT=off): there are no records.");
    });
    return router;
  }

  // Express hands a promise that is rejected on to the error handler.
  router.get("/", (request, response) => answerPage(audit, request, response));
  router.get("/:id", (request, response) => answerRecord(audit, request.params.id, response));
  return router;
}

async function answerPage(audit: AuditStore, request: Request, response: Response): Promise<void> {
  const { query, problems } = readAuditQuery(request.query);
  if (problems.length > 0) return refuse(response, 400, problems);
  response.json(await audit.query(query));
}

async function answerRecord(audit: AuditStore, id: string, response: Response): Promise<void> {
  const record = await audit.get(id);
  if (!record) return refuse(response, 404, "There is no record with this id.");
  response.json(record);
}
