/** Parts that several views use. */
import { ago, dateTime } from "./format.js";
import { html } from "./html.js";
import { stateWords } from "./names.js";

/** Announces a text to screen readers. */
export function say(text) {
  document.getElementById("announcement").textContent = text;
}

/** Replaces an empty view by its purpose, and instructions for getting data. */
export const emptyState = (title, ...hints) =>
  html`<div class="empty">
    <h2>${title}</h2>
    ${hints.map((hint) => html`<p>${hint}</p>`)}
  </div>`;

export const problem = (text) => html`<p class="problem" role="alert">${text}</p>`;

export const loading = html`<p class="hint" aria-busy="true">Loading…</p>`;

export const hint = (text) => html`<p class="hint">${text}</p>`;

/** The head of a view: its title, with elements next to it. */
export const viewHead = (title, ...beside) =>
  html`<div class="head">
    <h1>${title}</h1>
    ${beside}
  </div>`;

/** Shows a time in the form for people: `5 minutes ago`. */
export const when = (iso) => html`<time datetime=${iso} title=${dateTime(iso)}>${ago(iso)}</time>`;

/** Shows the label of the state of a client's migration, or a dash for rows without a client. */
export function stateTag(state) {
  if (state === null) return "–";
  const { label, tone, meaning } = stateWords[state];
  return html`<span class=${`tag ${tone}`} data-readiness=${state.replace(" ", "-")} title=${meaning}>${label}</span>`;
}

/** Shows names and values below each other. Missing values are omitted. */
export const facts = (given) =>
  html`<dl class="facts">
    ${given.filter(Boolean).map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`;

/** Shows the most important numbers of a page, each with its meaning. */
export const figures = (given) =>
  html`<div class="figures">
    ${given.map(([number, text]) => html`<div class="figure"><b>${number}</b><span>${text}</span></div>`)}
  </div>`;

/** Shows the heads of a table. A column is its name, or its name and whether it contains numbers. */
const tableHead = (columns) =>
  html`<thead>
    <tr>
      ${columns
        .map((column) => [column].flat())
        .map(([name, number]) =>
          // An empty head is not a head for screen readers.
          name === "" ? html`<td></td>` : html`<th scope="col" class=${number && "number"}>${name}</th>`,
        )}
    </tr>
  </thead>`;

/** Shows a table whose rows are cards on a narrow screen. The caption is for people who can't see it. */
export const cardTable = (caption, columns, rows) =>
  html`<table class="cards labelled">
    <caption class="unseen">${caption}</caption>
    ${tableHead(columns)}
    <tbody>${rows}</tbody>
  </table>`;

/** Shows a table that scrolls to the side. */
export const wideTable = (label, columns, rows, className) =>
  html`<div class="wide-table" tabindex="0" role="region" aria-label=${label}>
    <table class=${className}>
      ${tableHead(columns)}
      <tbody>${rows}</tbody>
    </table>
  </div>`;

/** Shows the options of a select. An option is its value and its text; the chosen one is selected. */
export const options = (all, chosen) =>
  all.map(([value, text]) => html`<option value=${value} selected=${value === chosen}>${text}</option>`);

/**
 * Shows a form of filters. Calls `changed` with the filled fields, by name, after every change, and when the form is
 * cleared.
 */
export function filterForm(label, changed, fields) {
  const changedIn = (form) =>
    changed(Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()])));

  function clear(event) {
    // A reset would restore the values in the address.
    event.preventDefault();
    const form = event.currentTarget;
    for (const control of form.elements) if (control.name) control.value = "";
    changedIn(form);
  }

  return html`<form
    class="filters"
    role="search"
    aria-label=${label}
    onSubmit=${(event) => event.preventDefault()}
    onChange=${(event) => changedIn(event.currentTarget)}
    onReset=${clear}
  >
    ${fields}
    <button type="reset">Clear</button>
  </form>`;
}
