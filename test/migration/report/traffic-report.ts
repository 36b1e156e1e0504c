/** What the report says of the five clients, as a golden case holds it: without times and texts. */
import type { Report } from "../../../src/migration/report/make-report.ts";
import type { FieldChange } from "../../../src/migration/report/model.ts";

const changed = (fields: readonly FieldChange[]): Record<string, string> =>
  Object.fromEntries(fields.map(({ field, v4, class: kind }) => [field, `${v4 ?? "-"} ${kind}`]));

const commands = (curls: readonly string[]): string[] =>
  curls.map((curl) => curl.replaceAll(/ \\\n +/g, " "));

/** The report's facts. Fields of an object are counted: the pack names them. */
export const summarizeReport = ({ totals, clients, losses }: Report): unknown => ({
  totals,
  losses: losses.map(
    ({ severity, loss, requests, clients: lossy }) =>
      `${severity} ${loss} (${requests} requests of ${lossy.length} clients)`,
  ),
  clients: clients.map((client) => ({
    agent: client.userAgent,
    readiness: client.readiness,
    alpha: client.requests - client.native,
    native: client.native,
    errors: client.errors,
    unmatched: client.unmatched,
    scopes: client.scopes.v4,
    objects: client.objects.map(({ object }) => object),
    calls: client.calls.map(({ route, requests, statuses, v4, before, after, sends, adds, filters }) => ({
      route,
      requests,
      statuses: Object.fromEntries(statuses.map(({ status, requests: times }) => [status, times])),
      v4,
      before: commands([before])[0],
      after: commands(after.map(({ curl }) => curl)),
      ...(sends.length > 0 && { sends: changed(sends) }),
      ...(adds.length > 0 && { adds }),
      ...(filters.length > 0 && { filters: changed(filters) }),
    })),
  })),
});
