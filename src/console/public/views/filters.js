import { html } from "../html.js";
import { filterForm, options } from "../parts.js";
import { clientName, upstreamName } from "../names.js";
import { FIELDS } from "./record-filters.js";

/** The texts of all choices, by field. Without a choice, everything is shown. */
const TEXTS = {
  lane: { "": "all", alpha: clientName, native: `native (${upstreamName})`, legacy: "old service" },
  span: {
    "": "any time",
    "5m": "last 5 minutes",
    "1h": "last hour",
    "24h": "last 24 hours",
    "7d": "last 7 days",
  },
};

/**
 * The filter form of the traffic view. Calls `changed` with the filled fields after every change.
 *
 * @param values initial values
 * @param routes suggested names
 */
export function trafficFilters({ values, routes, changed }) {
  function control(name, { input, choices }) {
    if (choices) {
      const all = ["", ...choices].map((choice) => [choice, TEXTS[name][choice]]);
      return html`<select name=${name}>${options(all, values[name])}</select>`;
    }
    return html`<input
      name=${name}
      defaultValue=${values[name]}
      spellcheck=${false}
      autocomplete="off"
      ...${input}
    />`;
  }
  return filterForm(
    "Filters",
    changed,
    html`
      ${Object.entries(FIELDS).map(
        ([name, field]) =>
          html`<label class=${field.className}>${field.label}${control(name, field)}</label>`,
      )}
      <datalist id="routes">${routes.map((name) => html`<option value=${name} />`)}</datalist>
    `,
  );
}
