import { Offline } from "../api.js";
import { loading, make, problem, say } from "../dom.js";
import { dayOf } from "../format.js";
import { keepInAddress } from "../router.js";

/** Periods to choose: days back from today, or days of one's own. */
const PERIODS = [
  ["", "all days"],
  ["7", "last 7 days"],
  ["30", "last 30 days"],
  ["90", "last 90 days"],
  ["400", "last 400 days"],
  ["own", "other days"],
];
const DAY_MS = 86_400_000;
const RETRY_MS = 3000;

/** What of an address says the period and the search. Addresses of other views carry it on. */
export const readScope = (parameters) =>
  Object.fromEntries(
    ["days", "from", "until", "search"]
      .map((name) => [name, parameters.get(name) ?? ""])
      .filter(([, value]) => value !== ""),
  );

const isDay = (text) => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "") && !Number.isNaN(Date.parse(text));

/** The period of an address as days of the API, in UTC: `until` is the first day that is not in it. */
export function daysOf({ days, from, until }, now = Date.now()) {
  if (/^\d{1,4}$/.test(days ?? "")) return { since: dayOf(now - (Number(days) - 1) * DAY_MS) };
  return {
    ...(isDay(from) && { since: from }),
    ...(isDay(until) && { until: dayOf(Date.parse(until) + DAY_MS) }),
  };
}

/** Parameters of the usage API for what an address says, and others. */
export function usageQuery(scope, others = {}) {
  const given = { ...daysOf(scope), search: scope.search, ...others };
  return new URLSearchParams(
    Object.entries(given).filter(([, value]) => value !== undefined && value !== ""),
  );
}

const field = (label, control, wide = false) => make("label", { class: wide && "wide" }, label, control);
const option = ([value, text], chosen) => make("option", { value, selected: value === chosen }, text);

/** The form of the period and the search. Calls `changed` with what is filled in. */
function scopeForm(scope, searches, changed) {
  const hasDays = Boolean(scope.from || scope.until);
  const own = (name, label) =>
    field(label, make("input", { type: "date", name, value: scope[name] ?? "", max: "9999-12-31" }));
  const days = make(
    "select",
    { name: "days" },
    PERIODS.map((each) => option(each, hasDays ? "own" : (scope.days ?? ""))),
  );
  const dates = [own("from", "From"), own("until", "Until")];
  const search = make("input", {
    type: "search",
    name: "search",
    value: scope.search ?? "",
    placeholder: "name, application, fingerprint, agent",
    maxlength: "200",
    spellcheck: "false",
    autocomplete: "off",
  });
  const showDates = () => dates.forEach((each) => (each.hidden = days.value !== "own"));
  const form = make(
    "form",
    { class: "filters", role: "search", "aria-label": "Filters" },
    field("Period", days),
    dates,
    searches && field("Search clients", search, true),
    make("button", { type: "reset" }, "Clear"),
  );

  function values() {
    const { days: chosen, from, until, search: text = "" } = Object.fromEntries(new FormData(form));
    const period = chosen === "own" ? { from, until } : { days: chosen };
    const given = { ...period, search: text.trim() };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ""));
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", () => {
    showDates();
    changed(values());
  });
  form.addEventListener("reset", (event) => {
    // A reset would go back to what the address said.
    event.preventDefault();
    for (const control of form.elements) if (control.name) control.value = "";
    showDates();
    changed({});
  });
  showDates();
  return form;
}

/**
 * A form of the period, and a content that is filled again when it changes. The form keeps its focus, and the address keeps
 * what is chosen.
 *
 * @param fill returns the content for a scope
 * @param searches whether clients can be searched
 */
export async function scopedContent({ view, id, signal, parameters, searches = true }, fill) {
  const content = make("div", { class: "content" });
  const others = Object.fromEntries(
    [...parameters].filter(([name]) => !/^(?:days|from|until|search)$/.test(name)),
  );
  let asked = 0;

  async function show(scope) {
    const own = (asked += 1);
    try {
      const filled = await fill(scope);
      if (own !== asked || signal.aborted) return;
      content.replaceChildren(...[filled].flat(Infinity).filter(Boolean));
      if (own > 1) say("The page shows what you chose.");
    } catch (error) {
      if (own !== asked || signal.aborted) return;
      content.replaceChildren(problem(error.message));
      if (error instanceof Offline || error.status >= 500)
        setTimeout(() => own === asked && !signal.aborted && void show(scope), RETRY_MS);
    }
  }

  const form = scopeForm(readScope(parameters), searches, (scope) => {
    keepInAddress(view, { ...others, ...scope }, id);
    content.replaceChildren(loading());
    void show(scope);
  });
  await show(readScope(parameters));
  return [form, content];
}
