import { Router } from "express";
import type { Request, Response } from "express";
import {
  type AuditRecord,
  type AuditStore,
  type ClientDirectory,
  EXPORT_FORMATS,
  exportFormat,
  type ExportOptions,
  exportTexts,
  isExportFormat,
  writeExport,
  readAuditQuery,
  readNamedQuery,
} from "../audit/index.ts";
import { refuseParameters, sendErrors } from "./responses.ts";

/** The displayed parts of a record, in addition to the record itself. */
export interface RecordViews {
  /** Explains a record by the active pack: the source of each field of the response. */
  explain(record: AuditRecord): Promise<unknown>;
  /** Traces a record by the active pack. Undefined while another trace runs. */
  trace(record: AuditRecord): Promise<object | undefined>;
}

/** Options of exports. */
export interface RecordExport extends Pick<ExportOptions, "onDamaged"> {
  /** Headers of the active pack that contain filters. */
  readonly filterHeaders?: () => ExportOptions["filterHeaders"];
}

/**
 * `GET /api/audit` with `/export`, `/:id`, `/:id/explain` and `/:id/trace`. If there is no audit store, every path
 * returns 404.
 */
export function createAuditApi(
  audit: AuditStore | undefined,
  directory: () => ClientDirectory,
  options: RecordExport,
  { explain, trace }: RecordViews,
): Router {
  const router = Router({ caseSensitive: true });

  if (!audit) {
    router.get(["/", "/:id", "/:id/explain", "/:id/trace"], (_request, response) => {
      sendErrors(response, 404, "Auditing is off (AUDIT=off): there are no records.");
    });
    return router;
  }

  // Express passes a rejected promise to the error handler.
  router.get("/", (request, response) => sendPage(audit, directory(), request, response));
  router.get("/export", (request, response) => sendExport(audit, directory(), options, request, response));
  const views = {
    "/:id": async (record: AuditRecord) => record,
    "/:id/explain": explain,
    "/:id/trace": trace,
  };
  for (const [path, show] of Object.entries(views))
    router.get(path, refuseParameters, ({ params }, response) =>
      sendRecord(audit, String(params["id"]), show, response),
    );
  return router;
}

async function sendPage(
  audit: AuditStore,
  directory: ClientDirectory,
  request: Request,
  response: Response,
): Promise<void> {
  const named = { directory, store: audit };
  const { query, problems } = await readNamedQuery(request.query, readAuditQuery, named);
  if (problems.length > 0) return sendErrors(response, 400, problems);
  response.json(await audit.query(query));
}

/**
 * Streams all matching records as fast as the client reads. `X-Total-Count` contains their number, for a progress bar.
 * If the store fails midway, the connection is closed, so that clients detect the incomplete response.
 */
async function sendExport(
  audit: AuditStore,
  directory: ClientDirectory,
  options: RecordExport,
  request: Request,
  response: Response,
): Promise<void> {
  const { format = "ndjson", ...filters } = request.query;
  const named = { directory, store: audit };
  const { query, problems } = await readNamedQuery(filters, readAuditQuery, named);
  const paging = (["limit", "before"] as const)
    .filter((parameter) => query[parameter] !== undefined)
    .map((parameter) => ({
      reason: "An export has no pages: use other parameters to narrow it.",
      parameter,
    }));
  if (!isExportFormat(format)) {
    const reason = `Has to be one of ${EXPORT_FORMATS.join(", ")}, once.`;
    return sendErrors(response, 400, [{ reason, parameter: "format" }, ...problems, ...paging]);
  }
  if (problems.length + paging.length > 0) return sendErrors(response, 400, [...problems, ...paging]);

  response.set({
    "Content-Type": exportFormat(format).contentType,
    "Content-Disposition": `attachment; filename="audit.${format}"`,
    "X-Total-Count": String(await audit.count(query)),
  });
  const { filterHeaders, ...others } = options;
  const texts = exportTexts(audit, { format, query, filterHeaders: filterHeaders?.(), ...others });
  // Reads the first piece before the headers are sent: if the store can't be read, the client still gets an error.
  const first = await texts.next();
  await writeExport(resumeWith(first, texts), format, response).catch((error: unknown) => {
    // A client that disconnected is not an error.
    if (!response.closed || response.errored) throw error;
  });
}

async function* resumeWith(
  first: IteratorResult<string, void>,
  texts: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  if (first.done) return;
  yield first.value;
  yield* texts;
}

async function sendRecord(
  audit: AuditStore,
  id: string,
  show: RecordViews["explain"],
  response: Response,
): Promise<void> {
  const record = await audit.get(id);
  if (!record) return sendErrors(response, 404, "There is no record with this id.");
  const shown = await show(record);
  if (shown === undefined) return sendErrors(response, 503, "Another trace is running. Try again.");
  response.json(shown);
}
