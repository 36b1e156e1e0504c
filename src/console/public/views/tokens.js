import { read } from "../api.js";
import { count, plural } from "../format.js";
import { html } from "../html.js";
import { cardTable, hint, stateTag, when } from "../parts.js";
import { clientName } from "../names.js";

const LAST_CALL = `Last ${clientName} call`;
const COLUMNS = ["Token", "State", [LAST_CALL, true], ["Requests", true], ["Last seen", true]];

/** Returns one token of a client as a row. */
const line = ({ fingerprint, userAgent, state, lastAlpha, requests, last }) =>
  html`<tr>
    <td class="main">
      <span class="mono">${fingerprint}</span><span class="under">${userAgent ?? "no user agent"}</span>
    </td>
    <td data-label="State">${stateTag(state)}</td>
    <td class="number" data-label=${LAST_CALL}>${lastAlpha === null ? "never" : when(lastAlpha)}</td>
    <td class="number" data-label="Requests">${count(requests)}</td>
    <td class="number" data-label="Last seen">${when(last)}</td>
  </tr>`;

/** The tokens of a client, each with its own state and with its requests of all days. */
export async function tokenTable({ id, tokens }) {
  const { tokens: listed } = await read(`/api/usage/members?client=${encodeURIComponent(id)}`);
  const left = tokens - listed.length;
  return html`<div>
    ${cardTable(`Tokens of ${id}, with their requests of all days`, COLUMNS, listed.map(line))}
    ${left > 0 && hint(`and ${plural(left, "token")} with fewer requests`)}
  </div>`;
}

/** Returns how the row of a client expands to its tokens; undefined for one token. */
export const openTokens = (row) =>
  row.tokens > 1
    ? {
        text: plural(row.tokens, "token"),
        label: `${plural(row.tokens, "token")} of ${row.name ?? row.id}`,
        open: () => tokenTable(row),
      }
    : undefined;
