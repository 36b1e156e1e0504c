import { timingsBar } from "../charts/timings.js";
import { read } from "../api.js";
import { bytes, dateTime } from "../format.js";
import { html } from "../html.js";
import { facts, hint } from "../parts.js";
import { address } from "../router.js";
import { upstreamName } from "../names.js";
import { legend, statusBadge } from "./badges.js";
import { callTools } from "./call-tools.js";
import { fieldTable } from "./field-table.js";
import { sideBySide } from "./side-by-side.js";
import { traceSection } from "./trace.js";

/** Counts the classes. A field that loses something is also counted as lossy. */
function classCounts(fields) {
  const counts = {};
  for (const field of fields) {
    counts[field.class] = (counts[field.class] ?? 0) + 1;
    if (field.loss) counts.lossy = (counts.lossy ?? 0) + 1;
  }
  return counts;
}

/** Returns the key under which a call is counted, if its record contains it. */
function keyOf({ label, application, accepted, fingerprint }) {
  if (label) return `label:${label}`;
  return application && accepted ? `application:${application}` : fingerprint;
}

function factsOf({ alpha, client, lane, requestId, time, bytes: size }) {
  const key = keyOf(client);
  const name = client.fingerprint ?? "no token";
  const who = key ? html`<a href=${address("clients", key)} class="mono">${name}</a>` : name;
  return facts([
    ["Time", html`<time datetime=${time}>${dateTime(time)}</time>`],
    ["Client", html`${who} ${client.userAgent ?? ""} <span class="quiet">${client.address}</span>`],
    client.label && ["Name", `${client.label}, given by the proxy`],
    client.application && ["Application", html`<span class="mono">${client.application}</span>`],
    ["Route", alpha.route ?? (lane === "native" ? "forwarded untouched" : "none matched")],
    ["Request id", html`<span class="mono">${requestId}</span>`],
    ["Bytes", `${bytes(size.in)} in, ${bytes(size.out)} out`],
  ]);
}

const noteList = (title, lines, kind) =>
  lines.length > 0 &&
  html`<section class=${`notes ${kind}`}>
    <h2>${title}</h2>
    <ul>${lines.map((line) => html`<li>${line}</li>`)}</ul>
  </section>`;

const errorLine = ({ reason, field, v4 }) => {
  const origin =
    v4 === null
      ? "from the gateway itself"
      : `from ${upstreamName} (${v4.call}${v4.field ? `, field ${v4.field}` : ""})`;
  return html`${field && html`<b class="mono">${field} </b>`}${reason}
    <span class="quiet">— ${origin}</span>`;
};

const bodyLines = ({ body }) => [
  ...(body?.dropped ?? []).map(
    (name) => html`<b class="mono">${name}</b> was sent by the client and not forwarded to ${upstreamName}`,
  ),
  ...(body?.added ?? []).map((name) => html`<b class="mono">${name}</b> was added by the gateway`),
];

/** Shows one call: the alpha request and response, the resulting v4 calls, and the reasons. */
export async function showCall(id, { signal }) {
  const path = `/api/audit/${encodeURIComponent(id)}`;
  const [record, explained] = await Promise.all([read(path, signal), read(`${path}/explain`, signal)]);
  const { alpha, lane } = record;
  const { answer, body, errors, note } = explained;
  return html`
    <p class="back"><a href="#/traffic">← Traffic</a></p>
    <div class="head">
      <h1 class="mono">${alpha.method} ${alpha.path}</h1>
      ${statusBadge(alpha.status)}
      <span class="tag">${lane}</span>
    </div>
    ${factsOf(record)} ${callTools(record, explained.curl)} ${timingsBar(record)}
    ${noteList("Warnings", record.warnings, "warn")} ${noteList("Errors", errors.map(errorLine), "warn")}
    ${noteList("Losses", record.losses, "loss")}
    ${noteList("Ignored query parameters", alpha.ignored ?? [], "")}
    ${noteList("Request body", bodyLines(explained), "")}
    <section>
      <h2>Side by side</h2>
      ${answer.length > 0 && legend(classCounts(answer))} ${sideBySide(record, explained)}
    </section>
    ${lane === "alpha" && alpha.route !== null && traceSection(id)}
    ${answer.length > 0 && fieldTable("Response, field by field", answer)}
    ${body && body.fields.length > 0 && fieldTable("Request, field by field", body.fields)}
    ${note && hint(note)}
  `;
}
