import { read, readStages } from "../api.js";
import { make } from "../dom.js";
import { count, plural, stageMs } from "../format.js";
import { address } from "../router.js";
import { ClientName, upstreamName } from "../names.js";
import { classChip, CLASSES, legend } from "./badges.js";
import { sortableTable } from "./sortable.js";

const RELOADS =
  "This is the active pack. Edits of its files take effect by a reload. Other scopes, another oauth, and a setting that the pack needs take effect by a restart: such a reload is rejected, and the log has AG_PACK_RELOAD_FAILED with the reason.";

/** Requests on each route of the pack. */
function usedBy(routes) {
  const used = new Map();
  for (const { route, requests } of routes)
    if (route !== null) used.set(route, (used.get(route) ?? 0) + requests);
  return used;
}

/** The mean milliseconds of a request without those of v4. */
const ownMs = (stages = []) =>
  stages.reduce((sum, { stage, ms }) => (stage === "upstream" ? sum : sum + ms), 0);

/** The mean time of a request, and that of each stage when it is opened. */
function stageTimes(stages) {
  if (!stages) return "–";
  return make(
    "details",
    { class: "stages" },
    make("summary", {}, stageMs(ownMs(stages))),
    stages.map(({ stage, ms }) => make("div", {}, `${stage} ${stageMs(ms)}`)),
  );
}

const routeColumns = (used, stages) => [
  {
    name: ClientName,
    main: true,
    value: ({ alpha }) => alpha,
    cell: ({ alpha }) =>
      make("a", { href: address("traffic", undefined, { route: alpha }), class: "mono" }, alpha),
  },
  { name: upstreamName, value: ({ v4 }) => v4, cell: ({ v4 }) => make("span", { class: "mono" }, v4) },
  { name: "Scope", value: ({ scope }) => scope, cell: ({ scope }) => make("span", { class: "mono" }, scope) },
  {
    name: "Losses",
    number: true,
    value: ({ losses }) => losses,
    cell: ({ losses }) => (losses === 0 ? "–" : `≈ ${losses}`),
  },
  {
    name: "Used",
    number: true,
    value: ({ alpha }) => used.get(alpha) ?? 0,
    cell: ({ alpha }) => (used.has(alpha) ? count(used.get(alpha)) : "never"),
  },
  {
    name: "Mean time",
    number: true,
    value: ({ alpha }) => ownMs(stages.get(alpha)),
    cell: ({ alpha }) => stageTimes(stages.get(alpha)),
  },
];

function objectDetails({ name, fields }) {
  const lossy = fields.filter(({ loss }) => loss !== null).length;
  const line = (field) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", class: "mono main" }, field.name),
      make("td", {}, classChip(field.class)),
      make("td", { class: "mono", "data-label": upstreamName }, field.v4 ?? ""),
      make("td", {}, field.filter ? "filterable" : ""),
      make(
        "td",
        { class: "rule" },
        field.loss &&
          make("span", { class: "lost" }, `${CLASSES.lossy[0]} ${field.loss} (${field.severity})`),
      ),
    );
  const heads = [ClientName, "How", upstreamName, "Filter", "Not kept"].map((head) =>
    make("th", { scope: "col" }, head),
  );
  return make(
    "details",
    { class: "object", data: { name } },
    make(
      "summary",
      {},
      make("b", { class: "mono" }, name),
      make(
        "span",
        { class: "quiet" },
        ` ${plural(fields.length, "field")}${lossy > 0 ? `, ${lossy} lossy` : ""}`,
      ),
    ),
    make(
      "div",
      { class: "wide-table", tabindex: "0", role: "region", "aria-label": `Fields of ${name}` },
      make(
        "table",
        { class: "fields cards" },
        make("thead", {}, make("tr", {}, heads)),
        make("tbody", {}, fields.map(line)),
      ),
    ),
  );
}

/** The pack: its routes, and the fields of every object with their classes and losses. */
export async function showMappings({ signal }) {
  const [{ routes, objects, classes }, used, stages] = await Promise.all([
    read("/api/mappings", signal),
    // If auditing is off, there are no counts. The pack is still shown.
    read("/api/usage/routes", signal).catch(() => ({ routes: [] })),
    readStages(signal).catch(() => new Map()),
  ]);
  const search = make("input", {
    type: "search",
    placeholder: "GET /… or a field",
    "aria-label": "Find in the mappings",
  });
  const tables = make("div");

  function fill() {
    const wanted = search.value.trim().toLowerCase();
    const has = (...texts) => texts.some((text) => text?.toLowerCase().includes(wanted));
    const shownRoutes = routes.filter(({ alpha, v4, scope }) => has(alpha, v4, scope));
    const shownObjects = objects.filter(
      ({ name, fields }) => has(name) || fields.some((field) => has(field.name, field.v4, field.loss)),
    );
    tables.replaceChildren(
      make(
        "section",
        {},
        make("h2", {}, `Routes (${shownRoutes.length})`),
        sortableTable({
          caption: "Routes of the pack",
          columns: routeColumns(usedBy(used.routes), stages),
          rows: shownRoutes,
          sorted: "Used",
        }),
      ),
      make(
        "section",
        {},
        make("h2", {}, `Objects (${shownObjects.length})`),
        shownObjects.map(objectDetails),
      ),
    );
  }

  search.addEventListener("input", fill);
  fill();
  return [
    make("div", { class: "head" }, make("h1", {}, "Mappings"), search),
    make("section", {}, make("h2", { class: "unseen" }, "Classes of fields"), legend(classes)),
    make("p", { class: "quiet" }, RELOADS),
    tables,
  ];
}
