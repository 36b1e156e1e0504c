import { read } from "../api.js";
import { count, plural } from "../format.js";
import { html } from "../html.js";
import { hint } from "../parts.js";
import { address } from "../router.js";
import { ClientName } from "../names.js";
import { clientColumnOf, STATE_COLUMNS } from "./clients.js";
import { countColumn, ERRORS_COLUMN, routeColumn, timeColumn } from "./columns.js";
import { noMatch, readScope, scopedContent, scopedView, usageQuery } from "./scope.js";
import { sortableTable } from "./sortable.js";

const COUNT_COLUMNS = [
  countColumn("Calls", ({ requests }) => requests),
  ERRORS_COLUMN,
  countColumn("Lossy", ({ lossy }) => lossy),
  timeColumn("Last", ({ last }) => last),
];

/** Shows the calls of clients as a table: all calls, those of one route, or those of one client. */
export function callTable({ calls, caption, scope, of }) {
  const columns = [
    ...(of === "route" ? [] : [routeColumn("Route", scope)]),
    ...(of === "client" ? [] : [clientColumnOf(scope, { isMain: of === "route" }), STATE_COLUMNS[0]]),
    ...COUNT_COLUMNS,
  ];
  return sortableTable({ caption, columns, rows: calls, sorted: "Calls" });
}

const leftOut = ({ calls, total }) =>
  total > calls.length && hint(`${count(total - calls.length)} with fewer calls are left out.`);

async function routesContent(scope, signal) {
  const found = await read(`/api/usage/calls?${usageQuery(scope)}`, signal);
  if (found.calls.length === 0) return noMatch("call");
  const routes = new Set(found.calls.map(({ route }) => route)).size;
  const clients = new Set(found.calls.map(({ id }) => id)).size;
  return html`
    ${hint(`${plural(routes, "route")}, ${plural(clients, "caller")}`)}
    ${callTable({ ...found, caption: "Who calls which route", scope })} ${leftOut(found)}
  `;
}

/** The callers of all routes. */
export const showRoutes = scopedView("routes", `${ClientName} routes`, routesContent);

/** The callers of one route. */
export async function showRoute(route, { signal, parameters }) {
  const fill = async (scope, during) => {
    const found = await read(`/api/usage/calls?${usageQuery(scope, { route })}`, during);
    if (found.calls.length === 0) return noMatch("call");
    return html`
      ${hint(plural(found.total, "caller"))}
      ${callTable({ ...found, caption: `Who calls ${route}`, scope, of: "route" })} ${leftOut(found)}
    `;
  };
  const content = await scopedContent({ view: "routes", id: route, signal, parameters }, fill);
  return html`
    <p class="back"><a href=${address("routes", undefined, readScope(parameters))}>← Routes</a></p>
    <div class="head">
      <h1 class="mono">${route}</h1>
      <a class="button" href=${address("traffic", undefined, { route })}>Its calls</a>
    </div>
    ${content}
  `;
}
