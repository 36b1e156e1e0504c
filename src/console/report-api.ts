import { Router } from "express";
import { type AuditStore, type UsageQuery, readNamedQuery, readUsageQuery } from "../audit/index.ts";
import { DOCUMENT_POLICY } from "../base/index.ts";
import type { Report } from "../migration/index.ts";
import type { Pack } from "../pack/index.ts";
import { sendErrors } from "./responses.ts";
import type { ClientOptions } from "./usage-api.ts";

/** Maximum number of concurrent reports. Each reads a few thousand records. */
const MAX_REPORTS = 2;

/**
 * `GET /api/report?format=json|html|md|csv&client=&since=&until=`. The default format is JSON. Concurrent requests for the same
 * report share one run.
 */
export function createReportApi(
  store: AuditStore,
  { directory, quietDays }: ClientOptions,
  pack: () => Pack,
): Router {
  const inFlight = new Map<string, Promise<Report>>();

  async function make(query: UsageQuery): Promise<Report> {
    const { createReport } = await import("../migration/index.ts");
    return createReport({
      store,
      pack: pack(),
      query,
      now: Date.now(),
      quietDays,
      directory: directory(),
    });
  }

  function shareReport(query: UsageQuery): Promise<Report> | undefined {
    const key = JSON.stringify(query);
    const same = inFlight.get(key);
    if (same || inFlight.size >= MAX_REPORTS) return same;
    const report = make(query).finally(() => inFlight.delete(key));
    inFlight.set(key, report);
    return report;
  }

  const router = Router({ caseSensitive: true });
  router.get("/", async (request, response) => {
    // The module is loaded when the first report is read.
    const { FORMATS, isReportFormat, REPORT_FORMATS } = await import("../migration/index.ts");
    const { format = "json", ...given } = request.query;
    const { query, problems } = await readNamedQuery(given, readUsageQuery, {
      directory: directory(),
      store,
    });
    if (!isReportFormat(format)) {
      const reason = `Has to be one of ${REPORT_FORMATS.join(", ")}, once.`;
      return sendErrors(response, 400, [{ reason, parameter: "format" }, ...problems]);
    }
    if (problems.length > 0) return sendErrors(response, 400, problems);
    const report = shareReport(query);
    if (!report) {
      response.set("Retry-After", "5");
      return sendErrors(response, 503, "Too many reports are being created. Try again in a moment.");
    }
    const { type, write } = FORMATS[format];
    const text = write(await report);
    response.set({
      "Content-Type": type,
      "Content-Disposition": `inline; filename="migration-report.${format}"`,
      ...(format === "html" && { "Content-Security-Policy": DOCUMENT_POLICY }),
    });
    response.send(text);
  });
  return router;
}
