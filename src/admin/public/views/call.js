import { timingsBar } from "../charts/timings.js";
import { read } from "../api.js";
import { make } from "../dom.js";
import { bytes, dateTime } from "../format.js";
import { address } from "../router.js";
import { legend, statusBadge } from "./badges.js";
import { callTools } from "./call-tools.js";
import { fieldTable } from "./field-table.js";
import { sideBySide } from "./side-by-side.js";

/** Counts classes; what loses something counts as lossy besides. */
function classCounts(fields) {
  const counts = {};
  for (const field of fields) {
    counts[field.class] = (counts[field.class] ?? 0) + 1;
    if (field.loss) counts.lossy = (counts.lossy ?? 0) + 1;
  }
  return counts;
}

function facts({ alpha, client, lane, requestId, time, bytes: size }) {
  const who = client.fingerprint
    ? make("a", { href: address("clients", client.fingerprint), class: "mono" }, client.fingerprint)
    : "no token";
  const given = [
    ["Time", make("time", { datetime: time }, dateTime(time))],
    ["Client", [who, ` ${client.userAgent ?? ""} `, make("span", { class: "quiet" }, client.address)]],
    ["Route", alpha.route ?? (lane === "native" ? "forwarded untouched" : "none matched")],
    ["Request id", make("span", { class: "mono" }, requestId)],
    ["Bytes", `${bytes(size.in)} in, ${bytes(size.out)} out`],
  ];
  return make(
    "dl",
    { class: "facts" },
    given.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))),
  );
}

const told = (title, lines, kind) =>
  lines.length > 0 &&
  make(
    "section",
    { class: `told ${kind}` },
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
        ? "said by the gateway itself"
        : `said by v4 (${v4.call}${v4.field ? `, of its ${v4.field}` : ""})`;
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
    ...body.dropped.map((name) => [make("b", { class: "mono" }, name), " was sent and did not go on to v4"]),
    ...body.added.map((name) => [make("b", { class: "mono" }, name), " was put in by the gateway"]),
  ];
}

/** One call: what alpha asked and got, beside the v4 calls that were made for it, and why it is so. */
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
    told("Warnings", record.warnings, "warn"),
    told("Refused", errorLines(explained.errors), "warn"),
    told("Not kept", record.losses, "loss"),
    told("On the way out", bodyLines(explained), ""),
    make(
      "section",
      {},
      make("h2", {}, "Side by side"),
      fields.length > 0 && legend(classCounts(fields)),
      sideBySide(record, explained),
    ),
    fields.length > 0 && fieldTable("Field by field: the answer", fields),
    explained.body &&
      explained.body.fields.length > 0 &&
      fieldTable("Field by field: the request", explained.body.fields),
    explained.note && make("p", { class: "hint" }, explained.note),
  ].filter(Boolean);
}
