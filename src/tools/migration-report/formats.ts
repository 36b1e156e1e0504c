import { reportCsv } from "./csv.ts";
import { reportHtml } from "./html.ts";
import { reportMarkdown } from "./markdown.ts";
import type { Report } from "./model.ts";

export const REPORT_FORMATS = ["html", "md", "json", "csv"] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export const isReportFormat = (text: unknown): text is ReportFormat =>
  REPORT_FORMATS.some((format) => format === text);

/** The forms of a report, each with its media type. */
export const FORMATS: Readonly<
  Record<ReportFormat, { readonly type: string; readonly write: (report: Report) => string }>
> = {
  html: { type: "text/html; charset=utf-8", write: reportHtml },
  md: { type: "text/markdown; charset=utf-8", write: reportMarkdown },
  json: {
    type: "application/json; charset=utf-8",
    write: (report) => `${JSON.stringify(report, null, 2)}\n`,
  },
  csv: { type: "text/csv; charset=utf-8; header=present", write: reportCsv },
};
