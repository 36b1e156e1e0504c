import { daysChart } from "../charts/days.js";
import { shareBar } from "../charts/share.js";
import { read } from "../api.js";
import { count, dateTime, percent, plural } from "../format.js";
import { html } from "../html.js";
import { emptyState, facts, stateTag } from "../parts.js";
import { address } from "../router.js";
import { clientName, stateWords } from "../names.js";
import { statusBadge } from "./badges.js";
import { agentsOf, pauseText } from "./clients.js";
import { countColumn, timeColumn } from "./columns.js";
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
      html`<a href=${address("traffic", sample)} class="mono">
        ${route ?? (lane === "native" ? "forwarded untouched" : "no route of the pack")}
      </a>`,
  },
  { name: "Lane", value: ({ lane }) => lane, cell: ({ lane }) => lane },
  { name: "Status", number: true, value: ({ status }) => status, cell: ({ status }) => statusBadge(status) },
  countColumn("Requests", ({ requests }) => requests),
  countColumn("Lossy", ({ lossy }) => lossy),
  timeColumn("Last", ({ last }) => last),
];

function factsOf(client) {
  const { state, cameBack, isPauseLonger, lastAlpha, name, requests, errors, lossy, native, first, last } =
    client;
  return facts([
    ["State", html`${stateTag(state)}<span class="quiet"> ${stateWords[state]?.meaning ?? ""}</span>`],
    cameBack !== null && ["Came back", `${cameBack}: it had been ready, and called ${clientName} again`],
    isPauseLonger && ["Paused", `${pauseText(client)}: it is ready only after a longer pause`],
    [`Last ${clientName} call`, lastAlpha === null ? "never" : dateTime(lastAlpha)],
    ["Name", name ?? "none: see CLIENTS_FILE"],
    ["User agent", agentsOf(client)],
    ["Requests", count(requests)],
    ["Errors", `${count(errors)} (${percent(errors, requests)})`],
    ["Lossy", `${plural(lossy, "answer")} could not keep something`],
    ["Share native", shareBar(native, requests, "of its requests")],
    ["First seen", dateTime(first)],
    ["Last seen", dateTime(last)],
  ]);
}

/** Adds up the rows of several keys. The result has one row for each lane, route and status. */
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
  const tokens =
    client.tokens > 1 &&
    html`<section>
      <h2>${plural(client.tokens, "token")}</h2>
      ${await tokenTable(client)}
    </section>`;
  const calls = sortableTable({
    caption: "Calls of this client by status",
    columns: COLUMNS,
    rows: addKeys(routes),
    sorted: "Requests",
  });
  return html`
    ${reportLinks(id, usageQuery(scope))} ${factsOf(client)} ${tokens}
    <section>
      <h2>By day</h2>
      ${daysChart(days)}
    </section>
    ${
      found.calls.length > 0 &&
      html`<section>
        <h2>Routes</h2>
        ${callTable({ ...found, caption: "Routes that this client calls", scope, of: "client" })}
      </section>`
    }
    <section>
      <h2>What it calls</h2>
      ${calls}
    </section>
    ${lossSection(losses, { showsClients: false })}
  `;
}

/** Shows one client: its calls, and the state of its migration. */
export async function showClient(id, { signal, parameters }) {
  // A search in the list of clients does not apply to a single client.
  const others = new URLSearchParams([...parameters].filter(([name]) => name !== "search"));
  const content = await scopedContent(
    { view: "clients", id, signal, parameters: others, searches: false },
    (scope, during) => clientContent(id, scope, during),
  );
  const hasCalls = id !== "none" && id !== "unaccepted";
  return html`
    <p class="back"><a href=${address("clients", undefined, readScope(parameters))}>← Clients</a></p>
    <div class="head">
      <h1 class="mono">${id === "none" ? "no token" : id}</h1>
      ${
        hasCalls &&
        html`<a class="button" href=${address("traffic", undefined, { client: id })}>Its calls</a>`
      }
    </div>
    ${content}
  `;
}
