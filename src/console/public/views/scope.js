import { dayOf } from "../format.js";
import { Component, html } from "../html.js";
import { Loaded, tryLoad } from "../loaded.js";
import { emptyState, filterForm, options, say, viewHead } from "../parts.js";
import { keepInAddress } from "../router.js";

/** The available periods: a number of days until today, or chosen days. */
const PERIODS = [
  ["", "all days"],
  ["7", "last 7 days"],
  ["30", "last 30 days"],
  ["90", "last 90 days"],
  ["400", "last 400 days"],
  ["own", "other days"],
];
const DAY_MS = 86_400_000;

/** Reads the period and the search in an address. Links to other views contain them. */
export const readScope = (parameters) =>
  Object.fromEntries(
    ["days", "from", "until", "search"]
      .map((name) => [name, parameters.get(name) ?? ""])
      .filter(([, value]) => value !== ""),
  );

const isDay = (text) => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") && !Number.isNaN(Date.parse(text));

/** Converts the period in an address to days for the API, in UTC: `until` is exclusive. */
export function daysOf({ days, from, until }, now = Date.now()) {
  if (/^\d{1,4}$/.test(days ?? "")) return { since: dayOf(now - (Number(days) - 1) * DAY_MS) };
  return {
    ...(isDay(from) && { since: from }),
    ...(isDay(until) && { until: dayOf(Date.parse(until) + DAY_MS) }),
  };
}

/** Returns the parameters of the usage API for an address, with additional ones. */
export function usageQuery(scope, others = {}) {
  const given = { ...daysOf(scope), search: scope.search, ...others };
  return new URLSearchParams(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== ""),
  );
}

const dateField = (name, label, { value, isHidden }) =>
  html`<label hidden=${isHidden}>${label}<input type="date" name=${name} defaultValue=${value} max="9999-12-31"
  /></label>`;

/** Shows the form for the period and the search. Calls `changed` with the filled fields. */
function scopeForm({ first, period, searches, changed }) {
  const own = (name) => ({ value: first[name] ?? "", isHidden: period !== "own" });
  const fields = html`
    <label>Period<select name="days">${options(PERIODS, period)}</select></label>
    ${dateField("from", "From", own("from"))} ${dateField("until", "Until", own("until"))}
    ${
      searches &&
      html`<label class="wide">Search clients<input
          type="search"
          name="search"
          defaultValue=${first.search ?? ""}
          placeholder="name, application, fingerprint, agent"
          maxlength="200"
          spellcheck=${false}
          autocomplete="off"
      /></label>`
    }
  `;
  return filterForm("Filters", changed, fields);
}

/** Returns the scope from the filled fields. */
function scopeOf({ days, from, until, search = "" }) {
  const period = days === "own" ? { from, until } : { days };
  return Object.fromEntries(Object.entries({ ...period, search }).filter(([, value]) => value !== ""));
}

class Scoped extends Component {
  state = {
    scope: this.props.scope,
    period: this.props.scope.from || this.props.scope.until ? "own" : (this.props.scope.days ?? ""),
    choices: 0,
  };

  change(filled) {
    const { view, id, others } = this.props;
    const scope = scopeOf(filled);
    keepInAddress(view, { ...others, ...scope }, id);
    this.setState(({ choices }) => ({ scope, period: filled.days, choices: choices + 1 }));
  }

  render({ scope: first, searches, content, fill }, { scope, period, choices }) {
    const changed = (filled) => this.change(filled);
    return html`
      ${scopeForm({ first, period, searches, changed })}
      <div class="content">
        <${Loaded}
          key=${choices}
          first=${choices === 0 ? content : undefined}
          load=${(signal) => fill(scope, signal)}
          onLoaded=${() => choices > 0 && say("The page shows what you chose.")}
        />
      </div>
    `;
  }
}

/**
 * Shows the form for the period, and content that is refreshed when the period changes. The form keeps its focus, and
 * the address keeps the choice.
 *
 * @param fill returns the content for a scope: `fill(scope, signal)`
 * @param searches whether clients can be searched
 */
export async function scopedContent({ view, id, signal, parameters, searches = true }, fill) {
  const others = Object.fromEntries(
    [...parameters].filter(([name]) => !/^(?:days|from|until|search)$/.test(name)),
  );
  const scope = readScope(parameters);
  const content = await tryLoad((during) => fill(scope, during), signal);
  return html`<${Scoped} ...${{ view, id, others, scope, searches, content, fill }} />`;
}

/** Creates the view of a list with a form for the period and the search. @param fill as for {@link scopedContent} */
export const scopedView =
  (view, title, fill) =>
  async ({ signal, parameters }) =>
    html`${viewHead(title)}${await scopedContent({ view, signal, parameters }, fill)}`;

/** Shown if there is no result for the period and the search. */
export const noMatch = (what) =>
  emptyState(`No ${what} matches`, "Choose a longer period, or clear the search.");

/** Shown instead of an empty list. @param texts title and hints if no filter is set */
export const emptyScope = (scope, what, ...texts) =>
  Object.keys(scope).length > 0 ? noMatch(what) : emptyState(...texts);
