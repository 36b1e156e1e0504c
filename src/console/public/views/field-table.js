import { brief } from "../format.js";
import { html } from "../html.js";
import { Live } from "../loaded.js";
import { options, wideTable } from "../parts.js";
import { ClientName, clientName, upstreamName } from "../names.js";
import { CLASSES, classChip } from "./badges.js";

const COLUMNS = [ClientName, "How", "Value", upstreamName, `${upstreamName}'s value`, "Rule"];

/** Returns the index of the list row that contains a field; undefined if the field is not in a row. */
const rowOf = ({ field }) => /^[^.[]+\[(\d+)\]/.exec(field)?.[1];

const line = ({ field, class: kind, value, v4, rule, loss }) =>
  html`<tr>
    <th scope="row" class="mono main">${field}</th>
    <td>${classChip(kind)}${loss && classChip("lossy")}</td>
    <td class="mono value" data-label=${clientName}>${brief(value)}</td>
    <td class="mono" data-label=${upstreamName}>
      ${v4.field ?? ""}${v4.field === null && v4.call && html`<span class="quiet">${v4.call}</span>`}
    </td>
    <td class="mono value" data-label="=">${brief(v4.value)}</td>
    <td class="rule">${rule}${loss && html`<span class="lost">${CLASSES.lossy[0]} lost: ${loss}</span>`}</td>
  </tr>`;

/** Shows a table of fields with their rules. For a list, it shows one row at a time. */
export function fieldTable(title, fields) {
  const rows = [...new Set(fields.map(rowOf).filter((row) => row !== undefined))];
  const names = rows.map((row) => [row, `row ${Number(row) + 1} of ${rows.length}`]);
  const show = (shown, choose) =>
    html`<section>
      <div class="head">
        <h2>${title}</h2>
        ${
          rows.length > 1 &&
          html`<label>
            <span class="unseen">Row of the list</span>
            <select onChange=${({ target }) => choose(target.value)}>${options(names, shown)}</select>
          </label>`
        }
      </div>
      ${wideTable(
        title,
        COLUMNS,
        fields.filter((field) => [undefined, shown].includes(rowOf(field))).map(line),
        "fields cards",
      )}
    </section>`;
  return html`<${Live} first=${rows[0]} show=${show} />`;
}
