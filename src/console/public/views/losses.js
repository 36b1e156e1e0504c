import { count, plural } from "../format.js";
import { html } from "../html.js";
import { cardTable } from "../parts.js";
import { upstreamName } from "../names.js";
import { clientLink } from "./clients.js";

/** The meanings of the severities of losses. */
const SEVERITIES = {
  meaning: `the client believes something that is not so, or ${upstreamName} did not do what it asked for`,
  detail: "something was not shown",
  rounding: "a value was less exact",
};

/** Maximum number of clients that are named for a loss. */
const NAMED_CLIENTS = 3;

const clientLinks = (clients) => [
  clients
    .slice(0, NAMED_CLIENTS)
    .map((client, index) => [index > 0 && ", ", clientLink(client, {}), ` (${count(client.requests)})`]),
  clients.length > NAMED_CLIENTS && `, ${plural(clients.length - NAMED_CLIENTS, "other")}`,
];

const COLUMNS = ["Severity", "What was lost", ["Requests", true], ["Last", true]];

function lossTable(losses, caption, showsClients) {
  const line = ({ severity, loss, routes, requests, lastDay, clients }) =>
    html`<tr>
      <td data-label="Severity">
        <span class="tag" data-severity=${severity} title=${SEVERITIES[severity]}>${severity}</span>
      </td>
      <td class="main">${loss}<span class="under mono">${routes.join(", ")}</span></td>
      <td class="number" data-label="Requests">${count(requests)}</td>
      <td class="number" data-label="Last">${lastDay}</td>
      ${showsClients && html`<td data-label="Clients">${clientLinks(clients)}</td>`}
    </tr>`;
  return cardTable(caption, showsClients ? [...COLUMNS, "Clients"] : COLUMNS, losses.map(line));
}

/**
 * Shows the losses, by severity and by requests, as `GET /api/usage/losses` returns them. Roundings are folded.
 *
 * @param showsClients whether there is a column for the clients
 */
export function lossSection(losses, { showsClients }) {
  const heavy = losses.filter(({ severity }) => severity !== "rounding");
  const roundings = losses.filter(({ severity }) => severity === "rounding");
  const times = roundings.reduce((sum, { requests }) => sum + requests, 0);
  return html`<section class="losses">
    <h2>What was lost</h2>
    ${losses.length === 0 && html`<p>Nothing was lost.</p>`}
    ${heavy.length > 0 && lossTable(heavy, "Losses by weight, then by requests", showsClients)}
    ${
      roundings.length > 0 &&
      html`<details>
        <summary>${plural(roundings.length, "rounding")}, ${plural(times, "time")}</summary>
        ${lossTable(roundings, "Values that were less exact", showsClients)}
      </details>`
    }
  </section>`;
}
