import { daysChart } from "../charts/days.js";
import { shareBar } from "../charts/share.js";
import { read } from "../api.js";
import { emptyState, make } from "../dom.js";
import { count, percent, plural } from "../format.js";
import { address } from "../router.js";
import { ClientName, upstreamName } from "../names.js";
import { clientColumnOf, STATE_COLUMNS } from "./clients.js";
import { lossSection } from "./losses.js";
import { reportLinks } from "./report-links.js";
import { scopedContent, usageQuery } from "./scope.js";
import { sortableTable } from "./sortable.js";
import { openTokens } from "./tokens.js";

const figure = (number, text) =>
  make("div", { class: "figure" }, make("b", {}, number), make("span", {}, text));

function figures(clients, states, days) {
  const native = clients.reduce((sum, client) => sum + client.native, 0);
  const all = clients.reduce((sum, client) => sum + client.requests, 0);
  const last = days.at(-1);
  const counted = states.filter((state) => state !== null);
  const done = counted.filter((state) => state === "ready").length;
  return make(
    "div",
    { class: "figures" },
    figure(percent(native, all), "of all requests were native"),
    figure(percent(last.native, last.native + last.alpha), `on the last day, ${last.day}`),
    figure(`${done} / ${counted.length}`, `clients have moved to ${upstreamName}`),
    figure(count(counted.filter((state) => state === "moving").length), "use both"),
    figure(
      count(counted.filter((state) => state === "silent").length),
      "are silent: whether they have moved is unknown",
    ),
  );
}

/** Alpha routes still in use, with how many clients use each. Who has no accepted token is no client. */
function leftOver(calls) {
  const left = new Map();
  for (const { route, id, state, requests, lossy } of calls) {
    const entry = left.get(route) ?? { route, requests: 0, lossy: 0, clients: new Set() };
    entry.requests += requests;
    entry.lossy += lossy;
    if (state !== null) entry.clients.add(id);
    left.set(route, entry);
  }
  return [...left.values()];
}

const leftColumns = (scope) => [
  {
    name: `${ClientName} route`,
    main: true,
    value: ({ route }) => route,
    cell: ({ route }) => make("a", { href: address("routes", route, scope), class: "mono" }, route),
  },
  {
    name: "Requests",
    number: true,
    value: ({ requests }) => requests,
    cell: ({ requests }) => count(requests),
  },
  {
    name: "Clients",
    number: true,
    value: ({ clients }) => clients.size,
    cell: ({ clients }) => count(clients.size),
  },
  { name: "Lossy", number: true, value: ({ lossy }) => lossy, cell: ({ lossy }) => count(lossy) },
];

const CLIENT_COLUMNS = [
  ...STATE_COLUMNS,
  {
    name: ClientName,
    number: true,
    value: ({ requests, native }) => requests - native,
    cell: ({ requests, native }) => count(requests - native),
  },
  {
    name: "Share native",
    number: true,
    value: ({ native, requests }) => native / requests,
    cell: ({ native, requests }) => shareBar(native, requests, "of its requests"),
  },
];

async function migrationContent(scope, signal) {
  const query = usageQuery(scope);
  const [{ groups }, { calls }, { days }, { losses }] = await Promise.all(
    ["groups", "calls", "days", "losses"].map((name) => read(`/api/usage/${name}?${query}`, signal)),
  );
  if (days.length === 0)
    return Object.keys(scope).length > 0
      ? emptyState("No request matches", "Choose a longer period, or clear the search.")
      : emptyState(
          "Nothing to show yet",
          "After the first calls this chart shows the share of native requests of each day.",
        );
  const left = leftOver(calls);
  return [
    await reportLinks(signal, undefined, query),
    figures(
      groups,
      groups.map(({ state }) => state),
      days,
    ),
    make("section", {}, make("h2", {}, "Requests by day"), daysChart(days)),
    make(
      "section",
      {},
      make("h2", {}, "Readiness of each client"),
      make("p", { class: "hint" }, "Requests are those of the period. States are those of today."),
      sortableTable({
        caption: "Readiness of each client",
        columns: [clientColumnOf(scope), ...CLIENT_COLUMNS],
        rows: groups,
        sorted: ClientName,
        opening: openTokens,
      }),
    ),
    make(
      "section",
      {},
      make("h2", {}, "What is left"),
      left.length === 0
        ? make("p", {}, `No ${ClientName} route is in use.`)
        : [
            make("p", { class: "hint" }, `${plural(left.length, `${ClientName} route`)} still in use`),
            sortableTable({
              caption: `${ClientName} routes in use`,
              columns: leftColumns(scope),
              rows: left,
              sorted: "Requests",
            }),
          ],
    ),
    lossSection(losses, { showsClients: true }),
  ];
}

/** The state of the migration: its share of native requests, clients that are not ready, and routes still in use. */
export async function showMigration({ signal, parameters }) {
  const content = await scopedContent({ view: "migration", signal, parameters }, (scope) =>
    migrationContent(scope, signal),
  );
  return [make("div", { class: "head" }, make("h1", {}, "Migration")), ...content];
}
