import { read, readStages } from "../api.js";
import { count, plural, stageMs } from "../format.js";
import { html } from "../html.js";
import { Live } from "../loaded.js";
import { wideTable } from "../parts.js";
import { address } from "../router.js";
import { ClientName, upstreamName } from "../names.js";
import { classChip, CLASSES, legend } from "./badges.js";
import { sortableTable } from "./sortable.js";

const RELOADS =
  "This is the active pack. Edits of its files take effect by a reload. Other scopes, another oauth, and a setting that the pack needs take effect by a restart: such a reload is rejected, and the log has AG_PACK_RELOAD_FAILED with the reason.";

/** Returns the number of requests on each route of the pack. */
function usedBy(routes) {
  const used = new Map();
  for (const { route, requests } of routes)
    if (route !== null) used.set(route, (used.get(route) ?? 0) + requests);
  return used;
}

/** Returns the mean milliseconds of a request without the stages of v4. */
const ownMs = (stages = []) =>
  stages.reduce((sum, { stage, ms }) => (stage === "upstream" ? sum : sum + ms), 0);

/** Shows the mean time of a request, which expands to the mean time of each stage. */
const stageTimes = (stages) =>
  stages
    ? html`<details class="stages">
        <summary>${stageMs(ownMs(stages))}</summary>
        ${stages.map(({ stage, ms }) => html`<div>${stage} ${stageMs(ms)}</div>`)}
      </details>`
    : "–";

const mono = (text) => html`<span class="mono">${text}</span>`;

const routeColumns = (used, stages) => [
  {
    name: ClientName,
    main: true,
    value: ({ alpha }) => alpha,
    cell: ({ alpha }) =>
      html`<a href=${address("traffic", undefined, { route: alpha })} class="mono">${alpha}</a>`,
  },
  { name: upstreamName, value: ({ v4 }) => v4, cell: ({ v4 }) => mono(v4) },
  { name: "Scope", value: ({ scope }) => scope, cell: ({ scope }) => mono(scope) },
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

const fieldLine = ({ name, class: kind, v4, filter, loss, severity }) =>
  html`<tr>
    <th scope="row" class="mono main">${name}</th>
    <td>${classChip(kind)}</td>
    <td class="mono" data-label=${upstreamName}>${v4 ?? ""}</td>
    <td>${filter ? "filterable" : ""}</td>
    <td class="rule">${loss && html`<span class="lost">${CLASSES.lossy[0]} ${loss} (${severity})</span>`}</td>
  </tr>`;

function objectDetails({ name, fields }) {
  const lossy = fields.filter(({ loss }) => loss !== null).length;
  const columns = [ClientName, "How", upstreamName, "Filter", "Not kept"];
  return html`<details key=${name} class="object" data-name=${name}>
    <summary>
      <b class="mono">${name}</b><span class="quiet"> ${plural(fields.length, "field")}${lossy > 0 && `, ${lossy} lossy`}</span>
    </summary>
    ${wideTable(`Fields of ${name}`, columns, fields.map(fieldLine), "fields cards")}
  </details>`;
}

/** Returns the routes and objects that contain a text. */
function found({ routes, objects }, wanted, columns) {
  const has = (...texts) => texts.some((text) => text?.toLowerCase().includes(wanted));
  const shownRoutes = routes.filter(({ alpha, v4, scope }) => has(alpha, v4, scope));
  const shownObjects = objects.filter(
    ({ name, fields }) => has(name) || fields.some((field) => has(field.name, field.v4, field.loss)),
  );
  const table = { caption: "Routes of the pack", columns, rows: shownRoutes, sorted: "Used" };
  return html`
    <section>
      <h2>Routes (${shownRoutes.length})</h2>
      ${sortableTable(table)}
    </section>
    <section>
      <h2>Objects (${shownObjects.length})</h2>
      ${shownObjects.map(objectDetails)}
    </section>
  `;
}

/** The pack: its routes, and the fields of every object with their classes and losses. */
export async function showMappings({ signal }) {
  const [pack, used, stages] = await Promise.all([
    read("/api/mappings", signal),
    // If auditing is off, there are no counts. The pack is still displayed.
    read("/api/usage/routes", signal).catch(() => ({ routes: [] })),
    readStages(signal).catch(() => new Map()),
  ]);
  const columns = routeColumns(usedBy(used.routes), stages);
  const show = (wanted, search) => html`
    <div class="head">
      <h1>Mappings</h1>
      <input
        type="search"
        placeholder="GET /… or a field"
        aria-label="Find in the mappings"
        onInput=${({ target }) => search(target.value.trim().toLowerCase())}
      />
    </div>
    <section>
      <h2 class="unseen">Classes of fields</h2>
      ${legend(pack.classes)}
    </section>
    <p class="quiet">${RELOADS}</p>
    <div>${found(pack, wanted, columns)}</div>
  `;
  return html`<${Live} first="" show=${show} />`;
}
