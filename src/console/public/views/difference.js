import { read } from "../api.js";
import { dateTime } from "../format.js";
import { html } from "../html.js";
import { hint, wideTable } from "../parts.js";

/** The sources of the old and the new response. */
const SIDES = {
  candidate: { old: "Active pack", new: "Candidate" },
  legacy: { old: "Old service", new: "Gateway" },
};

const nameOf = (field) => (field === "" ? "the body" : field);

const bodyLine = ({ path, old, new: other, isDifferent }) =>
  html`<tr data-class=${isDifferent ? "lossy" : null}>
    <th scope="row" class="mono main">${nameOf(path)}</th>
    <td class="mono value">${old ?? "–"}</td>
    <td class="mono value">${other ?? "–"}</td>
    <td>${isDifferent && html`<span class="tag bad">differs</span>`}</td>
  </tr>`;

function bodies({ example, lines }, sides) {
  const status = {
    path: "status",
    old: String(example.old.status),
    new: String(example.new.status),
    isDifferent: example.old.status !== example.new.status,
  };
  const columns = ["Field", sides.old, sides.new, "Same"];
  return wideTable("Both answers", columns, [status, ...lines].map(bodyLine), "fields");
}

const commands = (title, texts) =>
  texts.length > 0 &&
  html`<h3>${title}</h3>
    ${texts.map((text) => html`<pre tabindex="0">${text}</pre>`)}`;

/** Shows an example of a difference: both responses, and their sources. */
export async function showDifference(path, { signal }) {
  const described = await read(path, signal);
  const { example, rules, curl } = described;
  const { route, client, time, requestId, differences } = example;
  const sides = SIDES[example.source];
  const line = ({ field, kind, old, new: other }) =>
    html`<li>
      <code>${nameOf(field)}</code>${` ${kind}: ${old ?? "–"} → ${other ?? "–"}. `}
      <span class="quiet">${rules.find((rule) => rule.field === field)?.rule ?? ""}</span>
    </li>`;
  return html`
    <div class="head"><h1 class="mono">${route}</h1></div>
    ${hint(`${client ?? "without a token"}, ${dateTime(time)}, request ${requestId}`)}
    <ul class="bare-list">${differences.map(line)}</ul>
    ${bodies(described, sides)}
    <h2>Commands</h2>
    ${commands(sides.old, [curl.old])} ${commands(sides.new, [curl.new])}
    ${commands("Calls to the upstream", curl.upstream)}
  `;
}
