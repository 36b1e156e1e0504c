import { ms } from "../format.js";
import { html } from "../html.js";
import { ClientName, clientName, upstreamName } from "../names.js";
import { statusBadge } from "./badges.js";
import { jsonBlock } from "./json-lines.js";

const NONE = new Map();

function part(name, value, rules, whose) {
  if (value === undefined || value === null) return null;
  const cut = value.truncated === true && typeof value.text === "string";
  const title = cut ? `${name} (only the beginning${value.bytes ? ` of ${value.bytes} bytes` : ""})` : name;
  return html`<h4>${title}</h4>
    ${jsonBlock(cut ? value.text : value, rules, `${whose}: ${name}`)}`;
}

const box = ({ method, path, filter, body, status, response, ms: took }, rules, whose) =>
  html`<article>
    <p class="mono line-of-call">
      ${statusBadge(status)}${` ${method} ${path}`}
      ${took !== undefined && html`<span class="quiet"> ${ms(took)}</span>`}
    </p>
    ${part("Filter", filter, NONE, whose)} ${part("Request", body, rules.body, whose)}
    ${part("Answer", response, rules.answer, whose)}
  </article>`;

const nameOf = ({ method, path }) => `${method} ${path.split("?", 1)[0]}`;

/** The rules by the paths in the bodies of one v4 call. */
function v4Rules(call, { answer, body }) {
  const of = (fields) =>
    new Map(
      fields
        .filter(({ v4 }) => v4.call === nameOf(call) && v4.field !== null)
        .map((field) => [field.v4.field, field]),
    );
  return { answer: of(answer), body: of(body?.fields ?? []) };
}

const alphaRules = ({ answer, body }) => {
  const byField = (fields) => new Map(fields.map((field) => [field.field, field]));
  return { answer: byField(answer), body: byField(body?.fields ?? []) };
};

const noCalls = (lane) =>
  lane === "legacy"
    ? "The old service answered this request. Nothing was translated."
    : `There was no ${upstreamName} call: the gateway responded itself.`;

/** Shows the alpha call on the left, and its v4 calls on the right. Every line is marked with its rule. */
export function sideBySide({ alpha, v4, lane }, explained) {
  const query = alpha.query ? `?${alpha.query}` : "";
  const calls = v4.map((call) => box(call, v4Rules(call, explained), `${upstreamName} ${nameOf(call)}`));
  return html`<div class="sides">
    <section aria-label=${ClientName}>
      <h3>${lane === "native" ? "Client" : ClientName}</h3>
      ${box({ ...alpha, path: alpha.path + query }, alphaRules(explained), clientName)}
    </section>
    <section aria-label=${upstreamName}>
      <h3>${upstreamName}</h3>
      ${calls.length > 0 ? calls : html`<p class="hint">${noCalls(lane)}</p>`}
    </section>
  </div>`;
}
