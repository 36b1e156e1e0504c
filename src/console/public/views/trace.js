import { read } from "../api.js";
import { loading, make, problem, say } from "../dom.js";

/** With more expressions than this, each is closed at first. */
const MOST_OPEN = 4;

const SECRET = "redacted: it comes from a secret";

const valueOf = ({ value, isSecret }) =>
  isSecret
    ? make("span", { class: "lost" }, SECRET)
    : make("span", { class: "value" }, value ?? make("span", { class: "quiet" }, "nothing"));

function lookupLine({ function: name, args, result }) {
  const call =
    name === "values" && args.length === 2
      ? `row ${args[1]} of the table ${args[0]}`
      : `$${name}(${args.join(", ")})`;
  return make(
    "p",
    { class: "lookup" },
    `▸ ${call}: `,
    result ?? make("span", { class: "quiet" }, "there is none"),
  );
}

/** One sub-expression with those inside it. */
function nodeItem(node) {
  const { text, offset, branch, isTailCall, hasFailed, lookups = [], children, omitted } = node;
  return make(
    "li",
    {},
    branch && make("span", { class: "tag" }, branch),
    make("span", { title: `from character ${offset + 1}` }, text),
    " = ",
    hasFailed && make("span", { class: "lost" }, "failed"),
    isTailCall && make("span", { class: "quiet" }, "the value of the call"),
    !hasFailed && !isTailCall && valueOf(node),
    lookups.map(lookupLine),
    (children.length > 0 || omitted) &&
      make(
        "ul",
        {},
        children.map(nodeItem),
        omitted && make("li", { class: "quiet" }, `… ${omitted} more, left out`),
      ),
  );
}

function expressionTree(expression, isOpen) {
  const { place, path, field, source, nodes, error, note } = expression;
  return make(
    "details",
    { class: "expression", open: isOpen },
    make(
      "summary",
      {},
      make("b", { class: "mono" }, field ?? path),
      make("span", { class: "quiet mono" }, ` ${place} ${path} `),
      make("span", { class: "mono" }, "= ", error ? "failed" : valueOf(expression)),
    ),
    nodes.length > 0
      ? make("ul", { class: "tree mono" }, nodes.map(nodeItem))
      : make("p", { class: "mono" }, source),
    error && make("p", { class: "lost" }, error),
    note && make("p", { class: "hint" }, note),
  );
}

const conditionLine = ({ field, value, v4, values, rule }) =>
  make(
    "li",
    { class: "mono" },
    `${field}: ${value} → ${v4}: ${values.join(" or ") || "there is none"} `,
    make("span", { class: "quiet" }, rule),
  );

function traceParts({ filter, expressions, notes }) {
  return [
    filter.length > 0 && [make("h3", {}, "Filter"), make("ul", { class: "tree" }, filter.map(conditionLine))],
    expressions.length > 0
      ? expressions.map((expression) => expressionTree(expression, expressions.length <= MOST_OPEN))
      : make("p", { class: "hint" }, "No expression was evaluated."),
    notes.map((note) => make("p", { class: "hint" }, note)),
  ];
}

/** A button that runs a recorded request again, and shows how its expressions are evaluated. Nothing is sent. */
export function traceSection(id) {
  const result = make("div", { class: "trace" });
  const button = make("button", { type: "button", onclick: () => void run() }, "Trace the expressions");
  async function run() {
    button.disabled = true;
    result.replaceChildren(loading());
    try {
      const parts = traceParts(await read(`/api/audit/${encodeURIComponent(id)}/trace`));
      result.replaceChildren(...parts.flat(Infinity).filter(Boolean));
      say("The expressions are traced.");
    } catch (error) {
      result.replaceChildren(problem(error.message));
    }
    button.disabled = false;
  }
  return make(
    "section",
    { "aria-label": "Expressions" },
    make("div", { class: "head" }, make("h2", {}, "Expressions"), button),
    result,
  );
}
