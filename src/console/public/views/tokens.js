import { read } from "../api.js";
import { make, problem } from "../dom.js";
import { ago, count, dateTime, plural } from "../format.js";
import { clientName } from "../names.js";
import { readinessTag } from "./readiness.js";

const when = (iso) =>
  iso === null ? "never" : make("time", { datetime: iso, title: dateTime(iso) }, ago(iso));

const HEADS = [
  ["Token"],
  ["State"],
  [`Last ${clientName} call`, true],
  ["Requests", true],
  ["Last seen", true],
];

/** One token of a client as a row. */
const line = ({ fingerprint, userAgent, state, lastAlpha, requests, last }) =>
  make(
    "tr",
    {},
    make(
      "td",
      { class: "main" },
      make("span", { class: "mono" }, fingerprint),
      make("span", { class: "under" }, userAgent ?? "no user agent"),
    ),
    make("td", { "data-label": "State" }, readinessTag(state)),
    make("td", { class: "number", "data-label": HEADS[2][0] }, when(lastAlpha)),
    make("td", { class: "number", "data-label": "Requests" }, count(requests)),
    make("td", { class: "number", "data-label": "Last seen" }, when(last)),
  );

/** The tokens of a client, each with its own state and with its requests of all days. */
export async function tokenTable({ id, tokens }) {
  const { tokens: listed } = await read(`/api/usage/members?client=${encodeURIComponent(id)}`);
  const left = tokens - listed.length;
  return make(
    "div",
    {},
    make(
      "table",
      { class: "cards labelled" },
      make("caption", { class: "unseen" }, `Tokens of ${id}, with their requests of all days`),
      make(
        "thead",
        {},
        make(
          "tr",
          {},
          HEADS.map(([name, number]) => make("th", { scope: "col", class: number && "number" }, name)),
        ),
      ),
      make("tbody", {}, listed.map(line)),
    ),
    left > 0 && make("p", { class: "hint" }, `and ${plural(left, "token")} with fewer requests`),
  );
}

/** How the row of a client opens to its tokens; undefined for one token. */
export const openTokens = (row) =>
  row.tokens > 1
    ? {
        text: plural(row.tokens, "token"),
        label: `${plural(row.tokens, "token")} of ${row.name ?? row.id}`,
        open: () => tokenTable(row).catch((error) => problem(error.message)),
      }
    : undefined;
