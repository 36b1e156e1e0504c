import { html } from "../html.js";
import { CLASSES } from "./badges.js";

const INDENT = "  ";

/** Returns the lines of a JSON value, each with its path. */
function* lines(value, { at = "", name = "", depth = 0, comma = "" }) {
  const indent = INDENT.repeat(depth);
  const label = name === "" ? "" : `${JSON.stringify(name)}: `;
  const list = Array.isArray(value);
  const members = list ? value.map((item, index) => ["", item, `${at}[${index}]`]) : objectMembers(value, at);
  const [open, close] = list ? ["[", "]"] : ["{", "}"];
  if (!members || members.length === 0) {
    yield { at, text: `${indent}${label}${members ? open + close : JSON.stringify(value)}${comma}` };
    return;
  }
  yield { at, text: `${indent}${label}${open}`, opens: true };
  for (const [index, [key, item, place]] of members.entries())
    yield* lines(item, {
      at: place,
      name: key,
      depth: depth + 1,
      comma: index < members.length - 1 ? "," : "",
    });
  yield { at, text: `${indent}${close}${comma}`, opens: true };
}

function objectMembers(value, at) {
  if (typeof value !== "object" || value === null) return undefined;
  return Object.entries(value).map(([key, item]) => [key, item, at === "" ? key : `${at}.${key}`]);
}

/** Returns the rule of a path, or of the nearest parent that has one. */
function ruleAt(rules, at) {
  for (let place = at; place !== ""; place = place.replace(/(?:\.[^.[]*|\[\d+\]|^[^.[]*)$/, ""))
    if (rules.has(place)) return rules.get(place);
  return undefined;
}

/** Shows a JSON value line by line, each line marked with its rule. The scrolling box can be reached by keyboard. */
export function jsonBlock(value, rules, label) {
  const text = typeof value === "string" ? [{ at: "", text: value }] : lines(value, {});
  return html`<pre tabindex="0" role="group" aria-label=${label}>
${[...text].map(({ at, text, opens }) => {
  const found = ruleAt(rules, at);
  const kind = found && (!opens || rules.has(at)) ? found : undefined;
  const mark = kind ? CLASSES[kind.class][0] + (kind.loss ? CLASSES.lossy[0] : "") : "";
  const title = kind && `${kind.class}: ${kind.rule}${kind.loss ? `\nLost: ${kind.loss}` : ""}`;
  const sign = html`<span class="sign" aria-hidden="true">${mark}</span>`;
  return html`<span class="line" title=${title} data-class=${kind?.class ?? "none"}>${sign}${`${text}\n`}</span>`;
})}</pre>`;
}
