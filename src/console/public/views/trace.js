import { read } from "../api.js";
import { Component, html } from "../html.js";
import { tryLoad } from "../loaded.js";
import { hint, loading, problem, say } from "../parts.js";

/** If there are more expressions than this, each is initially collapsed. */
const MOST_OPEN = 4;

const SECRET = "redacted: it comes from a secret";

const quiet = (text) => html`<span class="quiet">${text}</span>`;
const lost = (text) => html`<span class="lost">${text}</span>`;

const valueOf = ({ value, isSecret }) =>
  isSecret ? lost(SECRET) : html`<span class="value">${value ?? quiet("nothing")}</span>`;

function lookupLine({ function: name, args, result }) {
  const call =
    name === "values" && args.length === 2
      ? `row ${args[1]} of the table ${args[0]}`
      : `$${name}(${args.join(", ")})`;
  return html`<p class="lookup">${`▸ ${call}: `}${result ?? quiet("there is none")}</p>`;
}

const resultOf = (node) => (node.hasFailed ? lost("failed") : valueOf(node));

/** Shows one sub-expression with its nested ones. */
function nodeItem(node) {
  const { text, offset, branch, lookups = [], children, omitted } = node;
  const inside =
    (children.length > 0 || omitted) &&
    html`<ul>
      ${children.map(nodeItem)}${omitted && html`<li class="quiet">… ${omitted} more, left out</li>`}
    </ul>`;
  return html`<li>
    ${branch && html`<span class="tag">${branch}</span>`}<span title=${`from character ${offset + 1}`}>${text}</span>${" = "}${resultOf(node)}${lookups.map(lookupLine)}${inside}
  </li>`;
}

const expressionTree = (expression, isOpen) => {
  const { place, path, field, source, nodes, error } = expression;
  const what = field ?? path;
  return html`<details class="expression" open=${isOpen}>
    <summary>
      <b class="mono">${what}</b><span class="quiet mono"> ${place} ${path} </span><span class="mono">= ${error ? "failed" : valueOf(expression)}</span>
    </summary>
    ${
      nodes.length > 0
        ? html`<ul class="tree mono">${nodes.map(nodeItem)}</ul>`
        : html`<p class="mono">${source}</p>`
    }
    ${error && html`<p class="lost">${error}</p>`}
  </details>`;
};

const conditionLine = ({ field, value, v4, values, rule }) =>
  html`<li class="mono">
    ${`${field}: ${value} → ${v4}: ${values.join(" or ") || "there is none"} `}${quiet(rule)}
  </li>`;

const traceParts = ({ filter, expressions, notes }) => html`
  ${
    filter.length > 0 &&
    html`<h3>Filter</h3>
      <ul class="tree">${filter.map(conditionLine)}</ul>`
  }
  ${
    expressions.length > 0
      ? expressions.map((expression) => expressionTree(expression, expressions.length <= MOST_OPEN))
      : hint("No expression was evaluated.")
  }
  ${notes.map(hint)}
`;

class Trace extends Component {
  state = { content: undefined, isRunning: false };

  async run() {
    this.setState({ content: loading, isRunning: true });
    const path = `/api/audit/${encodeURIComponent(this.props.id)}/trace`;
    const { value, error } = await tryLoad(() => read(path));
    this.setState({ content: error ? problem(error.message) : traceParts(value), isRunning: false });
    if (!error) say("The expressions are traced.");
  }

  render(_props, { content, isRunning }) {
    return html`<section aria-label="Expressions">
      <div class="head">
        <h2>Expressions</h2>
        <button type="button" disabled=${isRunning} onClick=${() => void this.run()}>
          Trace the expressions
        </button>
      </div>
      <div class="trace">${content}</div>
    </section>`;
  }
}

/** A button that runs a recorded request again, and shows how its expressions are evaluated. Nothing is sent. */
export const traceSection = (id) => html`<${Trace} id=${id} />`;
