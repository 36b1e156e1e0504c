/** A trace as text for a terminal. */
import { plural } from "../../base/index.ts";
import type { ShownValue, TracedNode } from "../../jsonata/index.ts";
import type { Trace, TracedCondition, TracedExpression, TracedField } from "./trace.ts";

const SECRET = "[redacted: it comes from a secret]";
const FAILED = "failed";

const valueOf = ({ value, isSecret }: ShownValue): string => (isSecret ? SECRET : (value ?? "nothing"));

function describeLookup({ function: name, args, result }: TracedNode["lookups"][number]): string {
  const [table, row] = args;
  const isTable = name === "values" && args.length === 2;
  const call = isTable ? `row ${row} of the table ${table}` : `$${name}(${args.join(", ")})`;
  return result === null ? `${call}: there is none` : `${call}: ${result}`;
}

function describeNode({ text, offset, branch, hasFailed, ...node }: TracedNode): string {
  const value = hasFailed ? FAILED : valueOf(node);
  return `${branch ? `${branch}: ` : ""}${text} = ${value}  (at ${offset + 1})`;
}

/** Returns the lines of a node: its own, its lookups, and its child nodes, as a tree. */
function* linesOf(node: TracedNode, first: string, rest: string): Generator<string> {
  yield first + describeNode(node);
  const { children, lookups, omitted = 0 } = node;
  for (const lookup of lookups)
    yield `${rest}${children.length > 0 ? "│" : " "}  ▸ ${describeLookup(lookup)}`;
  for (const [index, child] of children.entries()) {
    const isLast = index === children.length - 1 && omitted === 0;
    yield* linesOf(child, `${rest}${isLast ? "└─ " : "├─ "}`, `${rest}${isLast ? "   " : "│  "}`);
  }
  if (omitted > 0) yield `${rest}└─ … ${plural(omitted, "more evaluation")}`;
}

function formatExpression(expression: TracedExpression): string {
  const { place, path, field, nodes, error, source } = expression;
  const user = field !== null && !path.split(".").includes(field) ? ` for ${field}` : "";
  return [
    `${place}  ${path}${user}`,
    ...(nodes.length > 0
      ? nodes.flatMap((node) => [...linesOf(node, "  ", "  ")])
      : [`  ${source.replaceAll(/\s+/g, " ")} = ${error === undefined ? valueOf(expression) : FAILED}`]),
    ...(error === undefined ? [] : [`  error: ${error}`]),
  ].join("\n");
}

function formatField(field: TracedField): string {
  const { v4, rule } = field;
  const from = v4.field === null ? "" : `  <- ${v4.field} = ${valueOf({ ...field, value: v4.value })}`;
  return `  ${field.field} = ${valueOf(field)}${from}  (${rule})`;
}

const formatCondition = ({ field, value, v4, values, rule }: TracedCondition): string =>
  `  ${field}: ${value} -> ${v4}: ${values.length === 0 ? "there is none" : values.join(" or ")}  (${rule})`;

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title}\n${lines.join("\n")}`];

/** Formats a trace: the filter, the fields of both bodies, and each evaluation of an expression as a tree. */
export function formatTrace(trace: Trace): string {
  const { request, route, status, notes, filter, body, response, expressions } = trace;
  const parts = [
    `${request}\n${route === null ? "no route" : `route ${route}`}, status ${status}`,
    ...section("filter", filter.map(formatCondition)),
    ...section("body", body.map(formatField)),
    ...section("response", response.map(formatField)),
    ...expressions.map(formatExpression),
    ...(expressions.length === 0 ? ["no expression was evaluated"] : []),
    ...section(
      "notes",
      notes.map((note) => `  ${note}`),
    ),
  ];
  return `${parts.join("\n\n")}\n`;
}
