import { read } from "../api.js";
import { plural } from "../format.js";
import { html } from "../html.js";
import { hint, stateTag } from "../parts.js";
import { address } from "../router.js";
import { clientName } from "../names.js";
import { countColumn, ERRORS_COLUMN, nativeColumn, timeColumn } from "./columns.js";
import { emptyScope, scopedView, usageQuery } from "./scope.js";
import { sortableTable } from "./sortable.js";
import { openTokens } from "./tokens.js";

/** Returns the name of a row: the name in the directory, the family of user agents, or its key. */
export const titleOf = ({ client, name, family = null }) =>
  name ?? (family === "" ? "no user agent" : family) ?? client ?? "no token";

/** Returns the address of a client's page. All requests without a token are one client. */
export const clientLink = (row, scope) =>
  html`<a
    href=${address("clients", row.id ?? row.client ?? "none", scope)}
    class=${row.name === null && !row.family && "mono"}>${titleOf(row)}</a>`;

/** Returns the user agents of a client: the last one of each of its programs. */
export const agentsOf = ({ userAgent, otherAgents = [] }) =>
  [userAgent ?? "no user agent", ...otherAgents].join(", ");

/** The column of a client, whose links keep the period and the search. */
export const clientColumnOf = (scope, { isMain = true } = {}) => ({
  name: "Client",
  main: isMain,
  value: titleOf,
  cell: (row) => html`${clientLink(row, scope)}<span class="under">${agentsOf(row)}</span>`,
});

/** The column of a client, whose links contain no period. */
export const clientColumn = clientColumnOf({});

const DAY_MS = 86_400_000;

/** Returns the longest pause between two calls of a client. */
export const pauseText = ({ longestPauseMs }) =>
  `paused for ${plural(Math.floor(longestPauseMs / DAY_MS), "day")} before`;

/** Shows a pause that is longer than the quiet time: the client is only ready after a longer pause. */
const pauseNote = (row) => row.isPauseLonger && html`<span class="under">${pauseText(row)}</span>`;

/** Shows that a client called alpha again after it had been ready. */
const returnNote = ({ cameBack }) => cameBack && html`<span class="under">came back on ${cameBack}</span>`;

/** The state of a client's migration, and its last call. */
export const STATE_COLUMNS = [
  {
    name: "State",
    value: ({ state }) => state ?? "",
    cell: (row) => html`${stateTag(row.state)}${returnNote(row)}${pauseNote(row)}`,
  },
  timeColumn(`Last ${clientName} call`, ({ lastAlpha }) => lastAlpha),
];

const COLUMNS = [
  countColumn("Requests", ({ requests }) => requests),
  ERRORS_COLUMN,
  countColumn("Lossy", ({ lossy }) => lossy),
  nativeColumn("Native"),
  timeColumn("First seen", ({ first }) => first),
  timeColumn("Last seen", ({ last }) => last),
  ...STATE_COLUMNS,
];

async function clientsContent(scope, signal) {
  const { groups, total } = await read(`/api/usage/groups?${usageQuery(scope)}`, signal);
  if (groups.length === 0)
    return emptyScope(
      scope,
      "client",
      "No client yet",
      "Each name, application or token that calls the gateway is a client.",
      "Of tokens only fingerprints are stored.",
    );
  const table = sortableTable({
    caption: "Clients",
    columns: [clientColumnOf(scope), ...COLUMNS],
    rows: groups,
    sorted: "Requests",
    opening: openTokens,
  });
  const what = "names, applications, and tokens by their user agents. States are those of today.";
  return html`${hint(`${plural(total, "client")}: ${what}`)}${table}`;
}

/** Shows all clients: names, applications, and tokens by their user agents. A row of several tokens can be expanded. */
export const showClients = scopedView("clients", "Clients", clientsContent);
