/** The routes in use, with their callers. */
import {
  type Block,
  formatCount,
  formatMinuteUtc,
  type Line,
  type OpenedRows,
  plural,
  tableOf,
} from "../../base/index.ts";
import type { ClientGuide, Report } from "./make-report.ts";
import type { CallGuide } from "./call-guide.ts";
import { capitalize, clientName, isClient, isUse } from "./model.ts";
import { clientAnchor } from "./outline-client.ts";
import { describeCalls, stateTag } from "./sections.ts";

/** Maximum number of clients that are listed for a route. */
const MAX_CALLERS = 100;

/** A call of a client. */
interface Use {
  readonly client: ClientGuide;
  readonly call: CallGuide;
}

const lastOf = (uses: readonly Use[]): string =>
  uses.reduce((latest, { call }) => (call.last > latest ? call.last : latest), "");

/** Returns the callers of a route, those with the most requests first. */
function openCallers(uses: readonly Use[]): OpenedRows {
  const left = uses.length - MAX_CALLERS;
  const rows = uses
    .toSorted((one, other) => other.call.requests - one.call.requests)
    .slice(0, MAX_CALLERS)
    .map(({ client, call }): Line[] => [
      [{ link: clientName(client), to: clientAnchor(client) }],
      [client.readiness === null ? "–" : stateTag(client.readiness)],
      formatCount(call.requests),
      "",
      formatCount(call.lossy),
      formatMinuteUtc(call.last),
    ]);
  return {
    title: plural(uses.length, "caller"),
    of: "Caller",
    rows: left > 0 ? [...rows, [`${formatCount(left)} more`, "", "", "", "", ""]] : rows,
  };
}

/** Returns the main call of a route, and later calls that write. */
const mainCalls = ([main, ...later]: readonly string[]): string[] =>
  main === undefined ? [] : [main, ...later.filter((call) => !call.startsWith("GET "))];

/** Returns the routes in use, for all clients together. */
export function outlineRoutes({ clients, names }: Report): Block[] {
  const calls = clients
    .flatMap((client) => client.calls.map((call) => ({ client, call })))
    .filter(({ client, call }) => isUse(client, call));
  const rows = [...Map.groupBy(calls, ({ call }) => call.route)]
    .map(([route, uses]) => ({
      route,
      v4: mainCalls(uses[0]?.call.v4 ?? []),
      counterpart: uses[0]?.call.counterpart ?? "unknown",
      requests: uses.reduce((sum, { call }) => sum + call.requests, 0),
      lossy: uses.reduce((sum, { call }) => sum + call.lossy, 0),
      clients: uses.filter(({ client }) => isClient(client)).length,
      last: lastOf(uses),
      opened: openCallers(uses),
    }))
    .toSorted((one, other) => other.requests - one.requests);
  if (rows.length === 0) return [];
  const table = tableOf("Requests of all clients", rows, [
    [`${capitalize(names.client)} route`, ({ route }) => [{ code: route }]],
    [`${names.upstream} call`, ({ v4, counterpart }) => describeCalls(v4, counterpart)],
    ["Requests", ({ requests }) => formatCount(requests), "number"],
    ["Clients", (row) => formatCount(row.clients), "number"],
    ["With losses", ({ lossy }) => formatCount(lossy), "number"],
    ["Last", ({ last }) => formatMinuteUtc(last)],
  ]);
  return [
    { kind: "heading", level: 2, line: `${capitalize(names.client)} routes in use` },
    { ...table, opened: rows.map(({ opened }) => opened) },
  ];
}
