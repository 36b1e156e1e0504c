import { read } from "../api.js";
import { emptyState, make } from "../dom.js";
import { ago, count, dateTime, percent, plural } from "../format.js";
import { address } from "../router.js";
import { ClientName } from "../names.js";
import { clientColumnOf, STATE_COLUMNS } from "./clients.js";
import { readScope, scopedContent, usageQuery } from "./scope.js";
import { sortableTable } from "./sortable.js";

const routeColumn = (scope) => ({
  name: "Route",
  main: true,
  value: ({ route }) => route,
  cell: ({ route }) => make("a", { href: address("routes", route, scope), class: "mono" }, route),
});

const COUNT_COLUMNS = [
  { name: "Calls", number: true, value: ({ requests }) => requests, cell: ({ requests }) => count(requests) },
  {
    name: "Errors",
    number: true,
    value: ({ errors, requests }) => errors / requests,
    cell: ({ errors, requests }) => `${count(errors)} (${percent(errors, requests)})`,
  },
  { name: "Lossy", number: true, value: ({ lossy }) => lossy, cell: ({ lossy }) => count(lossy) },
  {
    name: "Last",
    number: true,
    value: ({ last }) => Date.parse(last),
    cell: ({ last }) => make("time", { datetime: last, title: dateTime(last) }, ago(last)),
  },
];

/** Who calls what, as a table: of all, of one route, or of one client. */
export function callTable({ calls, caption, scope, of }) {
  const columns = [
    ...(of === "route" ? [] : [routeColumn(scope)]),
    ...(of === "client" ? [] : [clientColumnOf(scope, { isMain: of === "route" }), STATE_COLUMNS[0]]),
    ...COUNT_COLUMNS,
  ];
  return sortableTable({ caption, columns, rows: calls, sorted: "Calls" });
}

const leftOut = ({ calls, total }) =>
  total > calls.length &&
  make("p", { class: "hint" }, `${count(total - calls.length)} with fewer calls are left out.`);

const nothing = () => emptyState("No call matches", "Choose a longer period, or clear the search.");

/** Who calls which route. */
export async function showRoutes({ signal, parameters }) {
  const content = await scopedContent({ view: "routes", signal, parameters }, async (scope) => {
    const found = await read(`/api/usage/calls?${usageQuery(scope)}`, signal);
    if (found.calls.length === 0) return nothing();
    const routes = new Set(found.calls.map(({ route }) => route)).size;
    const clients = new Set(found.calls.map(({ id }) => id)).size;
    return [
      make("p", { class: "hint" }, `${plural(routes, "route")}, ${plural(clients, "caller")}`),
      callTable({ ...found, caption: "Who calls which route", scope }),
      leftOut(found),
    ];
  });
  return [make("div", { class: "head" }, make("h1", {}, `${ClientName} routes`)), ...content];
}

/** Who calls one route. */
export async function showRoute(route, { signal, parameters }) {
  const back = address("routes", undefined, readScope(parameters));
  const content = await scopedContent({ view: "routes", id: route, signal, parameters }, async (scope) => {
    const found = await read(`/api/usage/calls?${usageQuery(scope, { route })}`, signal);
    if (found.calls.length === 0) return nothing();
    return [
      make("p", { class: "hint" }, plural(found.total, "caller")),
      callTable({ ...found, caption: `Who calls ${route}`, scope, of: "route" }),
      leftOut(found),
    ];
  });
  return [
    make("p", { class: "back" }, make("a", { href: back }, "← Routes")),
    make(
      "div",
      { class: "head" },
      make("h1", { class: "mono" }, route),
      make("a", { class: "button", href: address("traffic", undefined, { route }) }, "Its calls"),
    ),
    ...content,
  ];
}
