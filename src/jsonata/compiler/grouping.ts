import { pairsOf, type AstNode } from "../ast.ts";
import type { Code } from "./code.ts";
import { emitClosure, positionOf, type Scope } from "./scope.ts";

/** Returns the grouping after a node: `path{ … }`. The parser gives it no type. */
export const groupingOf = ({ group }: AstNode): AstNode | undefined =>
  typeof group === "object" ? { type: "grouping", ...group } : undefined;

/** Whether a node has no suffix that changes its value: no predicate, no grouping, no `[]`. */
export const isBare = (node: AstNode): boolean =>
  node["predicate"] === undefined && groupingOf(node) === undefined && node["keepArray"] !== true;

/** Emits an object constructor whose context may be a list. So may that of its keys and values: objects inside are general too. */
export function emitGrouping(list: string, node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const general: Scope = { ...scope, isGeneral: true };
  const write = (part: AstNode): string => emitClosure(general, (inner) => inner.unit.emit(part, inner).js);
  const pairs = pairsOf(node).map(([key, value]) => `{ key: ${write(key)}, value: ${write(value)} }`);
  return {
    js: `${unit.useHelper("groupBy")}(${list}, [${pairs.join(", ")}], ${positionOf(node, scope)})`,
    kind: "value",
  };
}
