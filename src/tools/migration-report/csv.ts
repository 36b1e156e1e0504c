import { csvRow, type Cell } from "../../audit/export/csv.ts";
import type { CallGuide, ClientGuide, Report } from "./model.ts";

const COLUMNS: Readonly<Record<string, (client: ClientGuide, call: CallGuide | undefined) => Cell>> = {
  client: ({ client }) => client,
  user_agent: ({ userAgent }) => userAgent,
  readiness: ({ readiness }) => readiness,
  client_requests: ({ requests }) => requests,
  client_native: ({ native }) => native,
  alpha_call: (_client, call) => call?.route ?? null,
  requests: (_client, call) => call?.requests ?? null,
  refused: (_client, call) =>
    call?.statuses.reduce((sum, { status, requests }) => sum + (status >= 400 ? requests : 0), 0) ?? null,
  with_losses: (_client, call) => call?.lossy ?? null,
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
 * The report as a table (RFC 4180): a line for each call of each client, and one for a client that has none to
 * change. A cell that a spreadsheet would run as a formula is made text.
 */
export function reportCsv({ clients }: Report): string {
  const lines = clients.flatMap((client) =>
    (client.calls.length === 0 ? [undefined] : client.calls).map((call) =>
      csvRow(Object.values(COLUMNS).map((read) => read(client, call))),
    ),
  );
  return csvRow(Object.keys(COLUMNS)) + lines.join("");
}
