import { childOf, stagesOf, type AstNode } from "../language/ast.ts";
import { emitMemberAccess, quote } from "./code.ts";
import { emitClosure, type Scope } from "./scope.ts";

/** Emits the predicates of a node over a list. A single value counts as a list of one. */
export function emitPredicates(value: string, node: AstNode, scope: Scope): string {
  return stagesOf(node).reduce((list, stage) => {
    const expr = childOf(stage, "expr");
    if (expr.type === "number") return `${scope.unit.useHelper("pickNth")}(${list}, ${String(expr.value)})`;
    const predicate = emitClosure(scope, (inner) => scope.unit.emit(expr, inner).js);
    return `${scope.unit.useHelper("filter")}(${list}, ${predicate})`;
  }, value);
}

/** Returns a step without its stages, which the path applies. */
export const withoutStages = ({ stages: _stages, focus: _focus, index: _index, ...node }: AstNode): AstNode =>
  node;

/** Emits a name step for one item, which may be an array. If `[]` follows, a list with one member remains a list. */
export function emitNameStep(node: AstNode, { unit, context }: Scope): string {
  const name = String(node.value);
  const otherwise = `${unit.useHelper(node["keepArray"] ? "readFieldAsList" : "readField")}(${context}, ${quote(name)})`;
  return `(${unit.useHelper("isRecord")}(${context}) ? ${emitMemberAccess(context, name)} : ${otherwise})`;
}

/** Emits the terms of `^( … )`. @param evaluate Emits the function of one term. */
export function emitSortTerms(node: AstNode, evaluate: (term: AstNode) => string): string {
  const terms = node["terms"] as readonly { readonly descending: boolean; readonly expression: AstNode }[];
  const entries = terms.map(
    ({ descending, expression }) => `{ evaluate: ${evaluate(expression)}, descending: ${descending} }`,
  );
  return `[${entries.join(", ")}]`;
}

/** Whether a path with one result returns a list with one member, because `[]` follows one of its steps. */
export const keepsSingleton = (node: AstNode): boolean =>
  node["keepSingletonArray"] === true || node["keepArray"] === true;

/** Whether a node has no suffix that changes its value: no predicate, no grouping, no `[]`. */
export const isBare = ({ predicate, group, keepArray }: AstNode): boolean =>
  predicate === undefined && group === undefined && keepArray !== true;
