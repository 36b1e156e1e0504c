import { daysChart } from "../charts/days.js";
import { read } from "../api.js";
import { count, percent, plural } from "../format.js";
import { html } from "../html.js";
import { figures, hint } from "../parts.js";
import { ClientName, upstreamName } from "../names.js";
import { clientColumnOf, STATE_COLUMNS } from "./clients.js";
import { countColumn, nativeColumn, routeColumn } from "./columns.js";
import { lossSection } from "./losses.js";
import { reportLinks } from "./report-links.js";
import { emptyScope, scopedView, usageQuery } from "./scope.js";
import { sortableTable } from "./sortable.js";
import { openTokens } from "./tokens.js";

function migrationFigures(clients, days) {
  const sumOf = (name) => clients.reduce((sum, client) => sum + client[name], 0);
  const inState = (wanted) => clients.filter(({ state }) => state === wanted).length;
  const last = days.at(-1);
  const counted = clients.length - inState(null);
  return figures([
    [percent(sumOf("native"), sumOf("requests")), "of all requests were native"],
    [percent(last.native, last.native + last.alpha), `on the last day, ${last.day}`],
    [`${inState("ready")} / ${counted}`, `clients have moved to ${upstreamName}`],
    [count(inState("moving")), "use both"],
    [count(inState("silent")), "are silent: whether they have moved is unknown"],
  ]);
}

/** Alpha routes in use, with the number of their clients. Senders without an accepted token are not clients. */
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
  routeColumn(`${ClientName} route`, scope),
  countColumn("Requests", ({ requests }) => requests),
  countColumn("Clients", ({ clients }) => clients.size),
  countColumn("Lossy", ({ lossy }) => lossy),
];

const CLIENT_COLUMNS = [
  ...STATE_COLUMNS,
  countColumn(ClientName, ({ requests, native }) => requests - native),
  nativeColumn("Share native"),
];

function leftSection(calls, scope) {
  const left = leftOver(calls);
  const table = {
    caption: `${ClientName} routes in use`,
    columns: leftColumns(scope),
    rows: left,
    sorted: "Requests",
  };
  return html`<section>
    <h2>What is left</h2>
    ${
      left.length === 0
        ? html`<p>No ${ClientName} route is in use.</p>`
        : html`${hint(`${plural(left.length, `${ClientName} route`)} still in use`)}${sortableTable(table)}`
    }
  </section>`;
}

async function migrationContent(scope, signal) {
  const query = usageQuery(scope);
  const [{ groups }, { calls }, { days }, { losses }] = await Promise.all(
    ["groups", "calls", "days", "losses"].map((name) => read(`/api/usage/${name}?${query}`, signal)),
  );
  if (days.length === 0)
    return emptyScope(
      scope,
      "request",
      "Nothing to show yet",
      "After the first calls this chart shows the share of native requests of each day.",
    );
  const states = {
    caption: "Readiness of each client",
    columns: [clientColumnOf(scope), ...CLIENT_COLUMNS],
    rows: groups,
    sorted: ClientName,
    opening: openTokens,
  };
  return html`
    ${reportLinks(undefined, query)} ${migrationFigures(groups, days)}
    <section>
      <h2>Requests by day</h2>
      ${daysChart(days)}
    </section>
    <section>
      <h2>Readiness of each client</h2>
      ${hint("Requests are those of the period. States are those of today.")} ${sortableTable(states)}
    </section>
    ${leftSection(calls, scope)} ${lossSection(losses, { showsClients: true })}
  `;
}

/**
 * Shows the state of the migration: the share of native requests, clients that are not ready, and routes that are still
 * in use.
 */
export const showMigration = scopedView("migration", "Migration", migrationContent);
