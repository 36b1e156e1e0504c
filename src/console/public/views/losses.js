import { make } from "../dom.js";
import { count, plural } from "../format.js";
import { upstreamName } from "../names.js";
import { clientLink } from "./clients.js";

/** What the weights of losses mean. */
const SEVERITIES = {
  meaning: `the client believes something that is not so, or ${upstreamName} did not do what it asked for`,
  detail: "something was not shown",
  rounding: "a value was less exact",
};

/** Clients of a loss that are named. */
const NAMED_CLIENTS = 3;

const severityTag = (severity) =>
  make("span", { class: "tag", data: { severity }, title: SEVERITIES[severity] }, severity);

const clientLinks = (clients) => [
  clients
    .slice(0, NAMED_CLIENTS)
    .map((client, index) => [index > 0 && ", ", clientLink(client, {}), ` (${count(client.requests)})`]),
  clients.length > NAMED_CLIENTS && `, ${plural(clients.length - NAMED_CLIENTS, "other")}`,
];

const COLUMNS = ["Severity", "What was lost", "Requests", "Last"];

function lossTable(losses, caption, showsClients) {
  const heads = showsClients ? [...COLUMNS, "Clients"] : COLUMNS;
  const line = ({ severity, loss, routes, requests, lastDay, clients }) =>
    make(
      "tr",
      {},
      make("td", { "data-label": "Severity" }, severityTag(severity)),
      make("td", { class: "main" }, loss, make("span", { class: "under mono" }, routes.join(", "))),
      make("td", { class: "number", "data-label": "Requests" }, count(requests)),
      make("td", { class: "number", "data-label": "Last" }, lastDay),
      showsClients && make("td", { "data-label": "Clients" }, clientLinks(clients)),
    );
  const isNumber = (name) => (name === "Requests" || name === "Last") && "number";
  return make(
    "table",
    { class: "cards labelled" },
    make("caption", { class: "unseen" }, caption),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        heads.map((name) => make("th", { scope: "col", class: isNumber(name) }, name)),
      ),
    ),
    make("tbody", {}, losses.map(line)),
  );
}

/**
 * What was lost, by weight and by requests, as `GET /api/usage/losses` returns it. Roundings are folded away.
 *
 * @param showsClients Whether the clients have a column.
 */
export function lossSection(losses, { showsClients }) {
  const heavy = losses.filter(({ severity }) => severity !== "rounding");
  const roundings = losses.filter(({ severity }) => severity === "rounding");
  const times = roundings.reduce((sum, { requests }) => sum + requests, 0);
  return make(
    "section",
    { class: "losses" },
    make("h2", {}, "What was lost"),
    losses.length === 0 && make("p", {}, "Nothing was lost."),
    heavy.length > 0 && lossTable(heavy, "Losses by weight, then by requests", showsClients),
    roundings.length > 0 &&
      make(
        "details",
        {},
        make("summary", {}, `${plural(roundings.length, "rounding")}, ${plural(times, "time")}`),
        lossTable(roundings, "Values that were less exact", showsClients),
      ),
  );
}
