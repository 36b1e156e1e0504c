import { daysChart } from "../charts/days.js";
import { shareBar } from "../charts/share.js";
import { read } from "../api.js";
import { emptyState, make } from "../dom.js";
import { count, percent, plural } from "../format.js";
import { address } from "../router.js";
import { ClientName, upstreamName } from "../names.js";
import { clientColumn, STATE_COLUMNS } from "./clients.js";
import { lossSection } from "./losses.js";
import { reportLinks } from "./report-links.js";
import { sortableTable } from "./sortable.js";

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

/** The key of all tokens that the upstream never accepted. */
const UNACCEPTED = "unaccepted";

/** Alpha routes still in use, with how many clients use each. What was refused to strangers is no use. */
function leftOver(routes) {
  const left = new Map();
  for (const { lane, route, client, status, requests, lossy } of routes) {
    if (lane !== "alpha" || route === null || (client === UNACCEPTED && status >= 400)) continue;
    const entry = left.get(route) ?? { route, requests: 0, lossy: 0, clients: new Set() };
    entry.requests += requests;
    entry.lossy += lossy;
    if (client !== null && client !== UNACCEPTED) entry.clients.add(client);
    left.set(route, entry);
  }
  return [...left.values()];
}

const LEFT_COLUMNS = [
  {
    name: `${ClientName} route`,
    main: true,
    value: ({ route }) => route,
    cell: ({ route }) => make("a", { href: address("traffic", undefined, { route }), class: "mono" }, route),
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
  clientColumn,
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

/** The state of the migration: its share of native requests, clients that are not ready, and routes still in use. */
export async function showMigration({ signal }) {
  const [{ clients }, { routes }, { days }, { losses }] = await Promise.all(
    ["clients", "routes", "days", "losses"].map((name) => read(`/api/usage/${name}`, signal)),
  );
  const head = make("div", { class: "head" }, make("h1", {}, "Migration"), await reportLinks(signal));
  if (days.length === 0)
    return [
      head,
      emptyState(
        "Nothing to show yet",
        "After the first calls this chart shows the share of native requests of each day.",
      ),
    ];
  const left = leftOver(routes);
  return [
    head,
    figures(
      clients,
      clients.map(({ state }) => state),
      days,
    ),
    make("section", {}, make("h2", {}, "Requests by day"), daysChart(days)),
    make(
      "section",
      {},
      make("h2", {}, "Readiness of each client"),
      sortableTable({
        caption: "Readiness of each client",
        columns: CLIENT_COLUMNS,
        rows: clients,
        sorted: ClientName,
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
              columns: LEFT_COLUMNS,
              rows: left,
              sorted: "Requests",
            }),
          ],
    ),
    lossSection(losses, { showsClients: true }),
  ];
}
