import { pairsOf, type AstNode, type Pairs } from "../ast.ts";
import type { Code } from "./code.ts";
import { emitClosure, positionOf, type Scope } from "./scope.ts";

/** Returns the grouping after a node: `path{ … }`. The parser gives it no type. */
export const groupingOf = ({ group }: AstNode): AstNode | undefined =>
  typeof group === "object" ? { type: "grouping", ...group } : undefined;

/** Whether a node has no suffix that changes its value: no predicate, no grouping, no `[]`. */
export const isBare = (node: AstNode): boolean =>
  node["predicate"] === undefined && groupingOf(node) === undefined && node["keepArray"] !== true;

/**
 * Emits functions for keys and values. Their context may be an array, so objects inside are emitted in the general form.
 *
 * @param write Emits one function.
 */
export function emitPairs(
  pairs: Pairs,
  scope: Scope,
  write = (part: AstNode, general: Scope) => emitClosure(general, (inner) => inner.unit.emit(part, inner).js),
): string {
  const general: Scope = { ...scope, isGeneral: true };
  const entries = pairs.map(
    ([key, value]) => `{ key: ${write(key, general)}, value: ${write(value, general)} }`,
  );
  return `[${entries.join(", ")}]`;
}

/** Emits the grouping of a list, or of a single value. `grouping` may also be an object constructor. */
export function emitGrouping(list: string, grouping: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const pairs = emitPairs(pairsOf(grouping), scope);
  return {
    js: `${unit.useHelper("groupBy")}(${list}, ${pairs}, ${positionOf(grouping, scope)})`,
    kind: "value",
  };
}
