import { showRecord } from "./detail.js";

const PAGE = 50;
const EVERY_MS = 2000;

const find = (id) => document.getElementById(id);
const rows = find("calls");
const filters = find("filters");
const routes = new Set();

/** Counts up with each change of the filters, so that an answer to older ones is thrown away. */
let asked = 0;
let live = true;
/** With older pages on the screen the table stands still: it would lose them. */
let paged = false;
let shown = "";
let next = null;

/** @throws {Error} with the reasons that the gateway names. */
async function read(path) {
  const response = await fetch(path, { headers: { Accept: "application/json" } });
  // The session has ended: the page itself is the way to the sign-in form.
  if (response.status === 401) location.reload();
  const body = await response.json();
  if (response.ok) return body;
  throw new Error(
    body.errors.map(({ parameter, reason }) => (parameter ? `${parameter}: ${reason}` : reason)).join(" "),
  );
}

function pagePath(before) {
  const query = new URLSearchParams({ limit: PAGE });
  for (const [name, value] of new FormData(filters)) if (value.trim()) query.set(name, value.trim());
  if (before) query.set("before", before);
  return `/api/audit?${query}`;
}

async function refresh() {
  const mine = (asked += 1);
  try {
    const page = await read(pagePath());
    if (mine !== asked) return;
    tell("");
    show(page);
  } catch (error) {
    if (mine === asked) tell(error.message);
  }
}

async function older() {
  const mine = (asked += 1);
  paged = true;
  try {
    const page = await read(pagePath(next));
    if (mine !== asked) return;
    rows.append(...page.records.map(row));
    follow(page);
  } catch (error) {
    tell(error.message);
  }
}

/** Leaves the table alone when nothing is new, so that focus and selection stay where they are. */
function show(page) {
  const now = page.records.map((record) => record.id).join();
  if (now !== shown || rows.children.length !== page.records.length) {
    const focused = document.activeElement?.closest("tr")?.dataset.id;
    rows.replaceChildren(...page.records.map(row));
    if (focused) rows.querySelector(`[data-id="${CSS.escape(focused)}"] .open`)?.focus();
    shown = now;
  }
  follow(page);
}

function follow(page) {
  next = page.next;
  find("older").hidden = next === null;
  find("empty").hidden = rows.children.length > 0;
  for (const { alpha } of page.records) {
    if (!alpha.route || routes.has(alpha.route)) continue;
    routes.add(alpha.route);
    find("routes").append(new Option(alpha.route));
  }
}

function row(record) {
  const line = find("call").content.cloneNode(true).firstElementChild;
  const cell = (name) => line.querySelector(name);
  const time = new Date(record.time);
  line.dataset.id = record.id;
  cell("time").dateTime = record.time;
  cell("time").title = record.time;
  cell("time").textContent = time.toLocaleTimeString([], { hour12: false });
  cell(".client").textContent = record.client.fingerprint ?? "no token";
  cell(".client").title = record.client.userAgent ?? "";
  cell(".open").textContent = `${record.alpha.method} ${record.alpha.path}`;
  cell(".open").addEventListener("click", () => showRecord(record));
  cell(".badge").textContent = record.alpha.status;
  cell(".badge").dataset.class = Math.trunc(record.alpha.status / 100);
  cell(".v4").textContent = record.v4.map((call) => call.status ?? "no answer").join(", ") || "none";
  cell(".v4").title = record.v4.map((call) => `${call.method} ${call.path}`).join("\n");
  cell(".ms").textContent = record.timings.total.toFixed(record.timings.total < 10 ? 1 : 0);
  return line;
}

function tell(problem) {
  find("problem").textContent = problem;
  find("problem").hidden = problem === "";
}

async function readState() {
  const state = find("state");
  try {
    const { status, reasons } = await (await fetch("/readyz")).json();
    state.textContent = [status, ...reasons].join(" · ");
    state.dataset.ready = reasons.length === 0;
  } catch {
    state.textContent = "the gateway does not answer";
    state.dataset.ready = false;
  }
}

async function tick() {
  if (live && !document.hidden) {
    await readState();
    if (!paged) await refresh();
  }
  setTimeout(tick, EVERY_MS);
}

function restart() {
  paged = false;
  void refresh();
}

filters.addEventListener("change", restart);
filters.addEventListener("submit", (event) => event.preventDefault());
// The fields are empty only after the event.
filters.addEventListener("reset", () => setTimeout(restart));
find("older").addEventListener("click", () => void older());
find("live").addEventListener("click", (event) => {
  live = !live;
  event.currentTarget.setAttribute("aria-pressed", live);
  if (live) restart();
});

void tick();
