/** Columns that several tables use. */
import { shareBar } from "../charts/share.js";
import { count, percent } from "../format.js";
import { html } from "../html.js";
import { when } from "../parts.js";
import { address } from "../router.js";

/** A column of counts. @param read returns the count of a row */
export const countColumn = (name, read) => ({
  name,
  number: true,
  value: read,
  cell: (row) => count(read(row)),
});

/** A column of times. @param read returns the time of a row, ISO 8601, or null for never */
export const timeColumn = (name, read) => ({
  name,
  number: true,
  value: (row) => Date.parse(read(row) ?? 0),
  cell: (row) => (read(row) === null ? "never" : when(read(row))),
});

export const ERRORS_COLUMN = {
  name: "Errors",
  number: true,
  value: ({ errors, requests }) => errors / requests,
  cell: ({ errors, requests }) => `${count(errors)} (${percent(errors, requests)})`,
};

/** The share of native requests. */
export const nativeColumn = (name) => ({
  name,
  number: true,
  value: ({ native, requests }) => native / requests,
  cell: ({ native, requests }) => shareBar(native, requests, "of its requests are native"),
});

/** A column of routes, whose links keep the period and the search. */
export const routeColumn = (name, scope) => ({
  name,
  main: true,
  value: ({ route }) => route,
  cell: ({ route }) => html`<a href=${address("routes", route, scope)} class="mono">${route}</a>`,
});
