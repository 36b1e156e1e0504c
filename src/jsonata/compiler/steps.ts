import type { Node } from "../ast.ts";
import { member, quote } from "./code.ts";
import { closure, type Scope } from "./scope.ts";

/** What steps of all paths have in common: names, predicates, orders. */

export interface Stage {
  readonly type: "filter" | "index";
  readonly expr: Node;
  readonly value: string;
}

export const stagesOf = (node: Node): readonly Stage[] =>
  ((node["stages"] ?? node["predicate"]) as readonly Stage[] | undefined) ?? [];

/** Predicates over a list, or a single value that counts as one. */
export function filtered(value: string, node: Node, scope: Scope): string {
  return stagesOf(node).reduce((list, { expr }) => {
    if (expr.type === "number") return `${scope.unit.use("nth")}(${list}, ${String(expr.value)})`;
    const predicate = closure(scope, (inner) => scope.unit.emit(expr, inner).js);
    return `${scope.unit.use("filter")}(${list}, ${predicate})`;
  }, value);
}

/** A step without its stages, which belong to the path. */
export const stepItself = ({ stages: _stages, focus: _focus, index: _index, ...node }: Node): Node => node;

/** The name step for one item, which can be an array. With `[]` behind it, a list of one stays a list. */
export function nameIn(node: Node, { unit, context }: Scope): string {
  const name = String(node.value);
  const otherwise = `${unit.use(node["keepArray"] ? "keptField" : "field")}(${context}, ${quote(name)})`;
  return `(${unit.use("isRecord")}(${context}) ? ${member(context, name)} : ${otherwise})`;
}

/** The terms of `^( )`; `evaluate` writes a term's function. */
export function termsOf(node: Node, evaluate: (term: Node) => string): string {
  const terms = node["terms"] as readonly { readonly descending: boolean; readonly expression: Node }[];
  const written = terms.map(
    ({ descending, expression }) => `{ evaluate: ${evaluate(expression)}, descending: ${descending} }`,
  );
  return `[${written.join(", ")}]`;
}

/** Whether a path that finds one thing gives a list of it: `[]` stands behind one of its steps, or behind it all. */
export const keepsOne = (node: Node): boolean =>
  node["keepSingletonArray"] === true || node["keepArray"] === true;
