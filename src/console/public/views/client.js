import { daysChart } from "../charts/days.js";
import { shareBar } from "../charts/share.js";
import { read } from "../api.js";
import { emptyState, make } from "../dom.js";
import { ago, count, dateTime, percent, plural } from "../format.js";
import { address } from "../router.js";
import { clientName } from "../names.js";
import { statusBadge } from "./badges.js";
import { READINESS, readinessTag } from "./readiness.js";
import { lossSection } from "./losses.js";
import { reportLinks } from "./report-links.js";
import { callTable } from "./routes.js";
import { readScope, scopedContent, usageQuery } from "./scope.js";
import { sortableTable } from "./sortable.js";
import { tokenTable } from "./tokens.js";

const COLUMNS = [
  {
    name: "Route",
    main: true,
    value: ({ route }) => route ?? "",
    cell: ({ route, lane, sample }) =>
      make(
        "a",
        { href: address("traffic", sample), class: "mono" },
        route ?? (lane === "native" ? "forwarded untouched" : "no route of the pack"),
      ),
  },
  { name: "Lane", value: ({ lane }) => lane, cell: ({ lane }) => lane },
  { name: "Status", number: true, value: ({ status }) => status, cell: ({ status }) => statusBadge(status) },
  {
    name: "Requests",
    number: true,
    value: ({ requests }) => requests,
    cell: ({ requests }) => count(requests),
  },
  { name: "Lossy", number: true, value: ({ lossy }) => lossy, cell: ({ lossy }) => count(lossy) },
  {
    name: "Last",
    number: true,
    value: ({ last }) => Date.parse(last),
    cell: ({ last }) => make("time", { datetime: last, title: dateTime(last) }, ago(last)),
  },
];

const fact = (name, value) => make("div", {}, make("dt", {}, name), make("dd", {}, value));

function facts(client) {
  const { state, cameBack, lastAlpha, name, userAgent, requests, errors, lossy, native, first, last } =
    client;
  return make(
    "dl",
    { class: "facts" },
    fact("State", [readinessTag(state), make("span", { class: "quiet" }, ` ${READINESS[state] ?? ""}`)]),
    cameBack !== null && fact("Came back", `${cameBack}: it had been ready, and called ${clientName} again`),
    fact(`Last ${clientName} call`, lastAlpha === null ? "never" : dateTime(lastAlpha)),
    fact("Name", name ?? "none: see CLIENTS_FILE"),
    fact("User agent", userAgent ?? "none"),
    fact("Requests", count(requests)),
    fact("Errors", `${count(errors)} (${percent(errors, requests)})`),
    fact("Lossy", `${plural(lossy, "answer")} could not keep something`),
    fact("Share native", shareBar(native, requests, "of its requests")),
    fact("First seen", dateTime(first)),
    fact("Last seen", dateTime(last)),
  );
}

/** Adds up the rows of several keys: one for each lane, route and status. */
function addKeys(rows) {
  const sums = new Map();
  for (const row of rows) {
    const key = [row.lane, row.route, row.status].join();
    const sum = sums.get(key) ?? { ...row, requests: 0, lossy: 0 };
    const newest = row.last > sum.last ? { last: row.last, sample: row.sample } : {};
    sums.set(key, {
      ...sum,
      ...newest,
      requests: sum.requests + row.requests,
      lossy: sum.lossy + row.lossy,
    });
  }
  return [...sums.values()];
}

/** The content of a client's page in a period. */
async function clientContent(id, scope, signal) {
  const query = usageQuery(scope, { client: id });
  const [{ groups }, { routes }, { days }, { losses }, found] = await Promise.all(
    ["groups", "routes", "days", "losses", "calls"].map((name) =>
      read(`/api/usage/${name}?${query}`, signal),
    ),
  );
  const [client] = groups;
  if (!client)
    return emptyState(
      "There is no data about this client",
      "Choose a longer period. Its summaries may be older than the retention time.",
    );
  return [
    await reportLinks(signal, id, usageQuery(scope)),
    facts(client),
    client.tokens > 1 &&
      make("section", {}, make("h2", {}, plural(client.tokens, "token")), await tokenTable(client)),
    make("section", {}, make("h2", {}, "By day"), daysChart(days)),
    found.calls.length > 0 &&
      make(
        "section",
        {},
        make("h2", {}, "Routes"),
        callTable({ ...found, caption: "Routes that this client calls", scope, of: "client" }),
      ),
    make(
      "section",
      {},
      make("h2", {}, "What it calls"),
      sortableTable({
        caption: "Calls of this client by status",
        columns: COLUMNS,
        rows: addKeys(routes),
        sorted: "Requests",
      }),
    ),
    lossSection(losses, { showsClients: false }),
  ];
}

/** One client: its calls, and the state of its migration. */
export async function showClient(id, { signal, parameters }) {
  // What was searched for in the list of clients does not narrow one of them.
  const others = new URLSearchParams([...parameters].filter(([name]) => name !== "search"));
  const content = await scopedContent(
    { view: "clients", id, signal, parameters: others, searches: false },
    (scope) => clientContent(id, scope, signal),
  );
  return [
    make(
      "p",
      { class: "back" },
      make("a", { href: address("clients", undefined, readScope(parameters)) }, "← Clients"),
    ),
    make(
      "div",
      { class: "head" },
      make("h1", { class: "mono" }, id === "none" ? "no token" : id),
      id !== "none" &&
        id !== "unaccepted" &&
        make("a", { class: "button", href: address("traffic", undefined, { client: id }) }, "Its calls"),
    ),
    ...content,
  ];
}
