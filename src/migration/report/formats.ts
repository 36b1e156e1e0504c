import { type Cell, csvRow } from "../../audit/index.ts";
import { renderDocument, renderMarkdown } from "../../base/index.ts";
import type { ClientGuide, Report } from "./make-report.ts";
import type { CallGuide } from "./call-guide.ts";
import { outlineReport } from "./outline-report.ts";

const COLUMNS: Readonly<Record<string, (client: ClientGuide, call: CallGuide | undefined) => Cell>> = {
  client: ({ client, family, id }) => (family === null ? client : id),
  name: ({ name }) => name,
  user_agent: ({ userAgent }) => userAgent,
  readiness: ({ readiness }) => readiness,
  came_back: ({ cameBack }) => cameBack,
  last_alpha: ({ lastAlpha }) => lastAlpha,
  client_requests: ({ requests }) => requests,
  client_native: ({ native }) => native,
  alpha_call: (_client, call) => call?.route ?? null,
  requests: (_client, call) => call?.requests ?? null,
  refused: (_client, call) =>
    call?.statuses.reduce((sum, { status, requests }) => sum + (status >= 400 ? requests : 0), 0) ?? null,
  with_losses: (_client, call) => call?.lossy ?? null,
  losses: ({ losses }, call) =>
    losses
      .filter(({ routes }) => call !== undefined && routes.includes(call.route))
      .map(({ severity, loss }) => `${severity} ${loss}`)
      .join("\n"),
  last: ({ last }, call) => call?.last ?? last,
  counterpart: (_client, call) => call?.counterpart ?? null,
  v4_calls: (_client, call) => call?.v4.join("\n") ?? null,
  alpha_scope: (_client, call) => call?.scope?.alpha ?? null,
  v4_scope: (_client, call) => call?.scope?.v4 ?? null,
  body_members_that_change: (_client, call) => call?.sends.map(({ field }) => field).join("\n") ?? null,
  answer_fields_that_change: ({ objects }, call) =>
    call === undefined
      ? null
      : objects
          .filter(({ object }) => call.gets.includes(object))
          .flatMap(({ fields }) => fields.map(({ field }) => field))
          .join("\n"),
};

/**
 * Writes the report as a table (RFC 4180): a line for each call of each client, and one line for a client without
 * calls. A cell that a spreadsheet would execute as a formula becomes text.
 */
function reportCsv({ clients }: Report): string {
  const lines = clients.flatMap((client) =>
    (client.calls.length === 0 ? [undefined] : client.calls).map((call) =>
      csvRow(Object.values(COLUMNS).map((read) => read(client, call))),
    ),
  );
  return csvRow(Object.keys(COLUMNS)) + lines.join("");
}

/** The names of the formats. */
export const REPORT_FORMATS = ["html", "md", "json", "csv"] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** Whether a text is the name of a format. */
export const isReportFormat = (text: unknown): text is ReportFormat =>
  REPORT_FORMATS.some((format) => format === text);

/** The formats of a report, with their media types. */
export const FORMATS: Readonly<
  Record<ReportFormat, { readonly type: string; readonly write: (report: Report) => string }>
> = {
  html: {
    type: "text/html; charset=utf-8",
    write: (report) =>
      renderDocument(
        `Migration report: from ${report.names.client} to ${report.names.upstream}`,
        outlineReport(report),
      ),
  },
  md: {
    type: "text/markdown; charset=utf-8",
    write: (report) => renderMarkdown(outlineReport(report)),
  },
  json: {
    type: "application/json; charset=utf-8",
    write: (report) => `${JSON.stringify(report, null, 2)}\n`,
  },
  csv: { type: "text/csv; charset=utf-8; header=present", write: reportCsv },
};
