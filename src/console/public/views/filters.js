import { html } from "../html.js";
import { filterForm, options } from "../parts.js";
import { clientName, upstreamName } from "../names.js";

const LANES = [
  ["", "all"],
  ["alpha", clientName],
  ["native", `native (${upstreamName})`],
  ["legacy", "old service"],
];
const SPANS = [
  ["", "any time"],
  ["5m", "last 5 minutes"],
  ["1h", "last hour"],
  ["24h", "last 24 hours"],
  ["7d", "last 7 days"],
];
const MS = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The names of the traffic view's filters in its address. */
export const FILTERS = ["route", "client", "status", "lane", "span"];

/**
 * The filter form of the traffic view. Calls `changed` with the filled fields after every change.
 *
 * @param values initial values
 * @param routes suggested names
 */
export function trafficFilters({ values, routes, changed }) {
  const text = (name, attributes) =>
    html`<input
      name=${name}
      defaultValue=${values[name]}
      spellcheck=${false}
      autocomplete="off"
      ...${attributes}
    />`;
  const select = (name, all) => html`<select name=${name}>${options(all, values[name])}</select>`;
  return filterForm(
    "Filters",
    changed,
    html`
      <label class="wide">Route${text("route", { list: "routes", placeholder: "GET /…" })}</label>
      <label>Client${text("client", { placeholder: "name or fingerprint", maxlength: "300" })}</label>
      <label>Status${text("status", { inputmode: "numeric", placeholder: "any", maxlength: "3" })}</label>
      <label>Lane${select("lane", LANES)}</label>
      <label>Time${select("span", SPANS)}</label>
      <datalist id="routes">${routes.map((name) => html`<option value=${name} />`)}</datalist>
    `,
  );
}

/** Returns the parameters of `GET /api/audit` for the filled fields. */
export function auditQuery({ route, client, status, lane, span }, now = Date.now()) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ route, client, status, lane }))
    if (value) query.set(name, value);
  const [, amount, unit] = /^(\d+)([mhd])$/.exec(span ?? "") ?? [];
  if (amount) query.set("since", new Date(now - amount * MS[unit]).toISOString());
  return query;
}
