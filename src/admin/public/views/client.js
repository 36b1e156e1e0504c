import { daysChart } from "../charts/days.js";
import { shareBar } from "../charts/share.js";
import { read } from "../api.js";
import { emptyState, make } from "../dom.js";
import { ago, count, dateTime, percent } from "../format.js";
import { address } from "../router.js";
import { clientName } from "../names.js";
import { statusBadge } from "./badges.js";
import { READINESS, readinessTag } from "./readiness.js";
import { lossSection } from "./losses.js";
import { reportLinks } from "./report-links.js";
import { sortableTable } from "./sortable.js";

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
    fact("Lossy", `${count(lossy)} answers could not keep something`),
    fact("Share native", shareBar(native, requests, "of its requests")),
    fact("First seen", dateTime(first)),
    fact("Last seen", dateTime(last)),
  );
}

/** One client: its calls, and the state of its migration. */
export async function showClient(id, { signal }) {
  const query = `?client=${encodeURIComponent(id)}`;
  const [{ clients }, { routes }, { days }, { losses }] = await Promise.all(
    ["clients", "routes", "days", "losses"].map((name) => read(`/api/usage/${name}${query}`, signal)),
  );
  const [client] = clients;
  const back = make("p", { class: "back" }, make("a", { href: "#/clients" }, "← Clients"));
  const head = make("h1", { class: "mono" }, id === "none" ? "no token" : id);
  if (!client)
    return [
      back,
      head,
      emptyState("There is no data about this client", "Its records may be older than the retention time."),
    ];
  return [
    back,
    make(
      "div",
      { class: "head" },
      head,
      id !== "none" &&
        make("a", { class: "button", href: address("traffic", undefined, { client: id }) }, "Its calls"),
    ),
    await reportLinks(signal, id),
    facts(client),
    make("section", {}, make("h2", {}, "By day"), daysChart(days)),
    make(
      "section",
      {},
      make("h2", {}, "What it calls"),
      sortableTable({ caption: "Routes of this client", columns: COLUMNS, rows: routes, sorted: "Requests" }),
    ),
    lossSection(losses, { showsClients: false }),
  ];
}
