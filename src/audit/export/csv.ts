import type { AuditRecord } from "../record/record.ts";

/** A cell of a CSV table. */
export type Cell = string | number | null;

const COLUMNS: Readonly<Record<string, (record: AuditRecord) => Cell>> = {
  id: ({ id }) => id,
  time: ({ time }) => time,
  lane: ({ lane }) => lane,
  request_id: ({ requestId }) => requestId,
  client: ({ client }) => client.fingerprint,
  user_agent: ({ client }) => client.userAgent,
  address: ({ client }) => client.address,
  method: ({ alpha }) => alpha.method,
  path: ({ alpha }) => alpha.path,
  query: ({ alpha }) => alpha.query,
  filter: ({ alpha }) => alpha.filter,
  route: ({ alpha }) => alpha.route,
  status: ({ alpha }) => alpha.status,
  v4: ({ v4 }) => v4.map(({ method, path, status }) => `${method} ${path} ${status ?? "none"}`).join("\n"),
  losses: ({ losses }) => losses.join("\n"),
  warnings: ({ warnings }) => warnings.join("\n"),
  total_ms: ({ timings }) => timings.total,
  upstream_ms: ({ timings }) => timings.upstream,
  translation_ms: ({ timings }) => timings.translation,
  bytes_in: ({ bytes }) => bytes.in,
  bytes_out: ({ bytes }) => bytes.out,
  application: ({ client }) => client.application ?? null,
  label: ({ client }) => client.label ?? null,
};

/**
 * The places where a formula may start: at the start of a text, and after a character that separates cells. A
 * spreadsheet may expect a separator other than a comma, for example in countries with a decimal comma, and then
 * ignores the quotation marks of a cell. The pattern matches even if there is no formula, so that no character is
 * scanned twice.
 */
const FORMULA_START = /(?:^|[;\t\r\n])[\s;"']*[=+\-@\uff0b\uff0d\uff1d\uff20]?/g;

const SIGN = /[=+\-@\uff0b\uff0d\uff1d\uff20]$/;

/** Clients choose these texts, and a spreadsheet would execute a text that starts like a formula. */
const neutralizeFormulas = (text: string): string =>
  text.replace(FORMULA_START, (start) => start.replace(SIGN, "'$&"));

/** Formats one line of a CSV file (RFC 4180). */
export const csvRow = (cells: readonly Cell[]): string => `${cells.map(formatCell).join(",")}\r\n`;

/** The header line of exported records. */
export const CSV_HEAD = csvRow(Object.keys(COLUMNS));

/** Formats a record as a line, without bodies. */
export const csvLine = (record: AuditRecord): string =>
  csvRow(Object.values(COLUMNS).map((read) => read(record)));

function formatCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const inert = neutralizeFormulas(cell);
  return /[",\r\n]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
