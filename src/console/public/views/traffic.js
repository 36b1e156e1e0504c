import { read, repeat } from "../api.js";
import { emptyState, make, say } from "../dom.js";
import { ms, plural, time } from "../format.js";
import { address, keepInAddress } from "../router.js";
import { exportFormats, upstreamName } from "../names.js";
import { auditQuery, filterForm } from "./filters.js";
import { statusBadge } from "./badges.js";

const PAGE = 50;
const EVERY_MS = 2000;
const COLUMNS = ["Time", "Client", "Call", "Status", `${upstreamName} calls`, "Duration"];

/** One call as a row; the link in it opens the call. */
function row(record) {
  const { alpha, client, lane, timings, v4, losses } = record;
  const own = alpha.path + (alpha.query && `?${alpha.query}`);
  const link = make(
    "a",
    { href: address("traffic", record.id), class: "call" },
    make("b", {}, alpha.method),
    ` ${own}`,
  );
  return make(
    "tr",
    { data: { id: record.id } },
    make(
      "td",
      { class: "time" },
      make("time", { datetime: record.time, title: record.time }, time(record.time)),
    ),
    make("td", { class: "mono quiet", title: client.userAgent }, client.fingerprint ?? "no token"),
    make(
      "td",
      { class: "main" },
      link,
      lane !== "alpha" && make("span", { class: "tag" }, lane),
      losses.length > 0 &&
        make(
          "span",
          { class: "tag loss", title: losses.join("\n") },
          `≈ ${plural(losses.length, "loss", "losses")}`,
        ),
    ),
    make("td", {}, statusBadge(alpha.status)),
    make(
      "td",
      { class: "quiet", "data-label": upstreamName },
      v4.map(({ status }) => status ?? "no answer").join(", ") || "none",
    ),
    make("td", { class: "number" }, ms(timings.total)),
  );
}

/** The live list of calls. */
export async function showTraffic({ signal, parameters }) {
  let live = true;
  let paged = false;
  let next = null;
  let asked = 0;
  let shown = "";
  const rows = make("tbody");
  const note = make("p", { class: "hint", "aria-live": "polite" });
  const pause = make(
    "button",
    { type: "button", "aria-pressed": "true", class: "live", onclick: toggle },
    "Live",
  );
  const more = make("button", { type: "button", hidden: true, onclick: () => void older() }, "Older calls");
  const nothing = make("div", { hidden: true });
  const filters = filterForm(parameters, restart);
  const exports = make("p", { class: "links" }, exportLinks(filters.values()));
  const table = make(
    "table",
    { class: "cards" },
    make("caption", { class: "unseen" }, "Calls, the newest first"),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        COLUMNS.map((name) => make("th", { scope: "col", class: name === "Duration" && "number" }, name)),
      ),
    ),
    rows,
  );

  const path = (before) => {
    const query = auditQuery(filters.values());
    query.set("limit", PAGE);
    if (before) query.set("before", before);
    return `/api/audit?${query}`;
  };
  function follow(page) {
    next = page.next;
    more.hidden = next === null;
    filters.offer(page.records.map(({ alpha }) => alpha.route));
    const none = rows.children.length === 0;
    table.hidden = none;
    nothing.hidden = !none;
    const narrowed = Object.values(filters.values()).some(Boolean);
    if (none) nothing.replaceChildren(narrowed ? noMatch() : noCalls());
  }

  /** Does not change the table if there are no new calls, so that focus and selection are kept. */
  function show(page) {
    const { records } = page;
    const now = records.map(({ id }) => id).join();
    if (now !== shown) {
      const focused = document.activeElement?.closest("tr")?.dataset.id;
      rows.replaceChildren(...records.map(row));
      if (focused) rows.querySelector(`[data-id="${CSS.escape(focused)}"] a`)?.focus();
      shown = now;
    }
    note.textContent = "";
    follow(page);
  }

  async function refresh() {
    if (paged) return;
    const mine = (asked += 1);
    try {
      const page = await read(path(), signal);
      if (mine === asked) show(page);
    } catch (error) {
      if (mine === asked && !signal.aborted) note.textContent = error.message;
    }
  }

  async function older() {
    // While older pages are shown, the table is not updated: it would lose them.
    paged = true;
    const mine = (asked += 1);
    const page = await read(path(next), signal).catch((error) => void (note.textContent = error.message));
    if (!page || mine !== asked) return;
    rows.append(...page.records.map(row));
    shown = "";
    follow(page);
    say(plural(page.records.length, "older call"));
  }

  function restart() {
    paged = false;
    keepInAddress("traffic", filters.values());
    exports.replaceChildren(...exportLinks(filters.values()));
    void refresh();
  }

  function toggle() {
    live = !live;
    pause.setAttribute("aria-pressed", live);
    pause.textContent = live ? "Live" : "Paused";
    say(live ? "The list is live." : "The list is paused.");
    if (live) restart();
  }

  await refresh();
  repeat(async () => live && refresh(), EVERY_MS, signal);
  return [
    make("div", { class: "head" }, make("h1", {}, "Traffic"), pause, exports),
    filters.form,
    note,
    table,
    nothing,
    make("p", { class: "more" }, more),
  ];
}

/** Links to exports of what the filters select. */
function exportLinks(filters) {
  const query = auditQuery(filters);
  return [
    "Export ",
    ...exportFormats.flatMap((format) => {
      query.set("format", format);
      return [make("a", { href: `/api/audit/export?${query}`, download: true }, format.toUpperCase()), " "];
    }),
  ];
}

const noCalls = () =>
  emptyState(
    "No calls yet",
    "Calls of clients appear here live.",
    "Send one with the curl line that the gateway printed at its start.",
  );

const noMatch = () => emptyState("No call matches", "Widen the filters, or clear them.");
