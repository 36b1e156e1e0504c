import { timingsBar } from "../charts/timings.js";
import { read } from "../api.js";
import { make } from "../dom.js";
import { bytes, dateTime } from "../format.js";
import { address } from "../router.js";
import { upstreamName } from "../names.js";
import { legend, statusBadge } from "./badges.js";
import { callTools } from "./call-tools.js";
import { fieldTable } from "./field-table.js";
import { sideBySide } from "./side-by-side.js";
import { traceSection } from "./trace.js";

/** Counts the classes. A field that loses something is counted as lossy, too. */
function classCounts(fields) {
  const counts = {};
  for (const field of fields) {
    counts[field.class] = (counts[field.class] ?? 0) + 1;
    if (field.loss) counts.lossy = (counts.lossy ?? 0) + 1;
  }
  return counts;
}

/** The key under which a call is counted, as far as its record says it. */
function keyOf({ label, application, accepted, fingerprint }) {
  if (label) return `label:${label}`;
  return application && accepted ? `application:${application}` : fingerprint;
}

function facts({ alpha, client, lane, requestId, time, bytes: size }) {
  const key = keyOf(client);
  const name = client.fingerprint ?? "no token";
  const who = key ? make("a", { href: address("clients", key), class: "mono" }, name) : name;
  const given = [
    ["Time", make("time", { datetime: time }, dateTime(time))],
    ["Client", [who, ` ${client.userAgent ?? ""} `, make("span", { class: "quiet" }, client.address)]],
    client.label && ["Name", `${client.label}, given by the proxy`],
    client.application && ["Application", make("span", { class: "mono" }, client.application)],
    ["Route", alpha.route ?? (lane === "native" ? "forwarded untouched" : "none matched")],
    ["Request id", make("span", { class: "mono" }, requestId)],
    ["Bytes", `${bytes(size.in)} in, ${bytes(size.out)} out`],
  ];
  return make(
    "dl",
    { class: "facts" },
    given
      .filter(Boolean)
      .map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
  );
}

const noteList = (title, lines, kind) =>
  lines.length > 0 &&
  make(
    "section",
    { class: `notes ${kind}` },
    make("h2", {}, title),
    make(
      "ul",
      {},
      lines.map((line) => make("li", {}, line)),
    ),
  );

function errorLines(errors) {
  return errors.map(({ reason, field, v4 }) => {
    const origin =
      v4 === null
        ? "from the gateway itself"
        : `from ${upstreamName} (${v4.call}${v4.field ? `, field ${v4.field}` : ""})`;
    return [
      field && make("b", { class: "mono" }, `${field} `),
      `${reason} `,
      make("span", { class: "quiet" }, `— ${origin}`),
    ];
  });
}

function bodyLines({ body }) {
  if (!body) return [];
  return [
    ...body.dropped.map((name) => [
      make("b", { class: "mono" }, name),
      ` was sent by the client and not forwarded to ${upstreamName}`,
    ]),
    ...body.added.map((name) => [make("b", { class: "mono" }, name), " was added by the gateway"]),
  ];
}

/** One call: the alpha request and response, the v4 calls that it became, and why. */
export async function showCall(id, { signal }) {
  const path = `/api/audit/${encodeURIComponent(id)}`;
  const [record, explained] = await Promise.all([read(path, signal), read(`${path}/explain`, signal)]);
  const { alpha, lane } = record;
  const fields = explained.answer;
  return [
    make("p", { class: "back" }, make("a", { href: "#/traffic" }, "← Traffic")),
    make(
      "div",
      { class: "head" },
      make("h1", { class: "mono" }, `${alpha.method} ${alpha.path}`),
      statusBadge(alpha.status),
      make("span", { class: "tag" }, lane),
    ),
    facts(record),
    callTools(record, explained.curl),
    timingsBar(record),
    noteList("Warnings", record.warnings, "warn"),
    noteList("Errors", errorLines(explained.errors), "warn"),
    noteList("Losses", record.losses, "loss"),
    noteList("Ignored query parameters", alpha.ignored ?? [], ""),
    noteList("Request body", bodyLines(explained), ""),
    make(
      "section",
      {},
      make("h2", {}, "Side by side"),
      fields.length > 0 && legend(classCounts(fields)),
      sideBySide(record, explained),
    ),
    lane === "alpha" && alpha.route !== null && traceSection(id),
    fields.length > 0 && fieldTable("Response, field by field", fields),
    explained.body &&
      explained.body.fields.length > 0 &&
      fieldTable("Request, field by field", explained.body.fields),
    explained.note && make("p", { class: "hint" }, explained.note),
  ].filter(Boolean);
}
