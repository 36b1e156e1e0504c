import { html } from "../html.js";
import { clientName, upstreamName } from "../names.js";

/** Shows a status, coloured by its class. */
export const statusBadge = (status) =>
  html`<span class="badge" data-class=${status === null ? 5 : Math.trunc(status / 100)}>
    ${status ?? "no response"}
  </span>`;

/** The classes of fields, with a symbol and a description for each, so that colour is not the only mark. */
export const CLASSES = {
  same: ["=", "the same value under the same name"],
  renamed: ["→", "the same value under another name or path"],
  value: ["ƒ", "another value, from a table or an expression"],
  expanded: ["+", `${upstreamName} has an id, ${clientName} the whole object`],
  derived: ["∴", "computed from other members, or constant"],
  composed: ["⋈", `computed from another ${upstreamName} call`],
  missing: ["∅", `${upstreamName} has no value, ${clientName} gets a neutral one`],
  lossy: ["≈", "the translation loses something"],
};

/** Shows the chip of a class: its symbol and its word. */
export const classChip = (name, more) => {
  const [sign, meaning] = CLASSES[name];
  return html`<span class="chip" data-class=${name} title=${meaning}>
    <span class="sign" aria-hidden="true">${sign}</span>${name}${more}
  </span>`;
};

/** Shows the legend, with the number of fields of each class. Classes without fields are omitted. */
export const legend = (counts) =>
  html`<ul class="legend" aria-label="Classes of the fields">
    ${Object.entries(CLASSES)
      .filter(([name]) => counts[name] > 0)
      .map(
        ([name, [, meaning]]) =>
          html`<li>
            ${classChip(name, html`<b> ${counts[name]}</b>`)}<span class="hint">${meaning}</span>
          </li>`,
      )}
  </ul>`;
