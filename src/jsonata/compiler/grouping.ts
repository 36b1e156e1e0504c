import type { Node } from "../ast.ts";
import type { Code } from "./code.ts";
import { closure, positionOf, type Scope } from "./scope.ts";

/** `{ }` as the grouping of what was found. */
export type Pairs = readonly (readonly [key: Node, value: Node])[];

interface Grouping extends Node {
  readonly lhs: Pairs;
}

/** The grouping behind a node. */
export const groupingOf = (node: Node): Grouping | undefined => node.group as Grouping | undefined;

/** Nothing stands behind a node that would change what it gives. */
export const isBare = (node: Node): boolean =>
  node["predicate"] === undefined && groupingOf(node) === undefined && node["keepArray"] !== true;

/** Functions for keys and values; `write` writes one. Inside, objects have to bear any context. */
export function pairsOf(
  pairs: Pairs,
  scope: Scope,
  write = (part: Node, general: Scope) => closure(general, (inner) => inner.unit.emit(part, inner).js),
): string {
  const general = { ...scope, general: true };
  const written = pairs.map(
    ([key, value]) => `{ key: ${write(key, general)}, value: ${write(value, general)} }`,
  );
  return `[${written.join(", ")}]`;
}

/** Groups a list, or a single value that counts as one; `grouping` can be an object constructor too. */
export function emitGrouping(list: string, grouping: Node, scope: Scope): Code {
  const { unit } = scope;
  const pairs = pairsOf(grouping["lhs"] as Pairs, scope);
  return { js: `${unit.use("groupBy")}(${list}, ${pairs}, ${positionOf(grouping, scope)})`, kind: "value" };
}
