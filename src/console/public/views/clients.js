import { shareBar } from "../charts/share.js";
import { read } from "../api.js";
import { emptyState, make } from "../dom.js";
import { ago, count, dateTime, percent, plural } from "../format.js";
import { address } from "../router.js";
import { clientName } from "../names.js";
import { readinessTag } from "./readiness.js";
import { scopedContent, usageQuery } from "./scope.js";
import { sortableTable } from "./sortable.js";
import { openTokens } from "./tokens.js";

const when = (iso) => make("time", { datetime: iso, title: dateTime(iso) }, ago(iso));

/** The name of a row: that of the directory, the family of user agents, or its key. */
export const titleOf = ({ client, name, family = null }) =>
  name ?? (family === "" ? "no user agent" : family) ?? client ?? "no token";

/** The address of a client's page. All requests without a token are one client. */
export const clientLink = (row, scope) =>
  make(
    "a",
    {
      href: address("clients", row.id ?? row.client ?? "none", scope),
      class: row.name === null && !row.family && "mono",
    },
    titleOf(row),
  );

/** The column of a client, whose links keep the period and the search. */
export const clientColumnOf = (scope, { isMain = true } = {}) => ({
  name: "Client",
  main: isMain,
  value: titleOf,
  cell: (row) => [clientLink(row, scope), make("span", { class: "under" }, row.userAgent ?? "no user agent")],
});

/** The same without a period. */
export const clientColumn = clientColumnOf({});

const DAY_MS = 86_400_000;

/** A pause that is longer than the quiet time: being quiet says little about this client. */
const pauseNote = ({ isPauseLonger, longestPauseMs }) =>
  isPauseLonger &&
  make("span", { class: "under" }, `paused for ${plural(Math.floor(longestPauseMs / DAY_MS), "day")} before`);

/** A client that called alpha again after it had been ready. */
const returnNote = ({ cameBack }) => cameBack && make("span", { class: "under" }, `came back on ${cameBack}`);

/** The state of a client's migration, and its last call. */
export const STATE_COLUMNS = [
  {
    name: "State",
    value: ({ state }) => state ?? "",
    cell: (row) => [readinessTag(row.state), returnNote(row), pauseNote(row)],
  },
  {
    name: `Last ${clientName} call`,
    number: true,
    value: ({ lastAlpha }) => (lastAlpha === null ? 0 : Date.parse(lastAlpha)),
    cell: ({ lastAlpha }) => (lastAlpha === null ? "never" : when(lastAlpha)),
  },
];

const COLUMNS = [
  {
    name: "Requests",
    number: true,
    value: ({ requests }) => requests,
    cell: ({ requests }) => count(requests),
  },
  {
    name: "Errors",
    number: true,
    value: ({ errors, requests }) => errors / requests,
    cell: ({ errors, requests }) => `${count(errors)} (${percent(errors, requests)})`,
  },
  { name: "Lossy", number: true, value: ({ lossy }) => lossy, cell: ({ lossy }) => count(lossy) },
  {
    name: "Native",
    number: true,
    value: ({ native, requests }) => native / requests,
    cell: ({ native, requests }) => shareBar(native, requests, "of its requests are native"),
  },
  {
    name: "First seen",
    number: true,
    value: ({ first }) => Date.parse(first),
    cell: ({ first }) => when(first),
  },
  { name: "Last seen", number: true, value: ({ last }) => Date.parse(last), cell: ({ last }) => when(last) },
  ...STATE_COLUMNS,
];

const noClients = (scope) =>
  Object.keys(scope).length > 0
    ? emptyState("No client matches", "Choose a longer period, or clear the search.")
    : emptyState(
        "No client yet",
        "Each name, application or token that calls the gateway is a client.",
        "Of tokens only fingerprints are stored.",
      );

/** All clients: names, applications, and tokens by their user agents. A row of several tokens opens to them. */
export async function showClients({ signal, parameters }) {
  const content = await scopedContent({ view: "clients", signal, parameters }, async (scope) => {
    const { groups, total } = await read(`/api/usage/groups?${usageQuery(scope)}`, signal);
    if (groups.length === 0) return noClients(scope);
    return [
      make(
        "p",
        { class: "hint" },
        `${plural(total, "client")}: names, applications, and tokens by their user agents. States are those of today.`,
      ),
      sortableTable({
        caption: "Clients",
        columns: [clientColumnOf(scope), ...COLUMNS],
        rows: groups,
        sorted: "Requests",
        opening: openTokens,
      }),
    ];
  });
  return [make("div", { class: "head" }, make("h1", {}, "Clients")), ...content];
}
