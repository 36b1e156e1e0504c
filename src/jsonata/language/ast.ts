/** A node of JSONata's syntax tree (`jsonata(...).ast()`), limited to the members that this folder reads. */
export interface AstNode {
  readonly type: string;
  readonly value?: unknown;
  readonly position?: number;
  readonly [part: string]: unknown;
}

/** Whether a value in a syntax tree is a node. */
export const isNode = (value: unknown): value is AstNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

/** The keys and values of `{ }`. */
export type Pairs = readonly (readonly [key: AstNode, value: AstNode])[];

/** Returns a value that must be a node. @throws {TypeError} If it isn't a node, because the parser has changed. */
export function asNode(value: unknown): AstNode {
  if (!isNode(value)) throw new TypeError("a part of the syntax tree is not a node");
  return value;
}

/** Returns a part of a node that is a node. @throws {TypeError} */
export const childOf = (node: AstNode, name: string): AstNode => asNode(node[name]);

/** Returns a part of a node that may be missing. */
export const findChild = (node: AstNode, name: string): AstNode | undefined =>
  node[name] === undefined ? undefined : childOf(node, name);

/** Returns a part of a node that is a list of nodes; the empty list if the part is missing. @throws {TypeError} */
export function childrenOf(node: AstNode, name: string): readonly AstNode[] {
  const parts = node[name] ?? [];
  if (!Array.isArray(parts)) throw new TypeError("a part of the syntax tree is not a list");
  return parts.map(asNode);
}

/** Whether a node has this type and no parts except these: no predicate, no grouping, no `[]`. */
export const isPlain = (node: AstNode, type: string, parts: readonly string[] = []): boolean =>
  node.type === type &&
  Object.keys(node).every((part) => ["type", "value", "position", ...parts].includes(part));

/** Returns the name of the variable that a node calls as a function; undefined for any other node. */
export function calledName(node: AstNode): string | undefined {
  const procedure = node.type === "function" ? childOf(node, "procedure") : undefined;
  return procedure?.type === "variable" ? String(procedure.value) : undefined;
}

/** The stages of a step: a predicate `[ … ]` contains an `expr`, and `#$i` (type `index`) contains the variable as `value`. */
export const stagesOf = (node: AstNode): readonly AstNode[] =>
  childrenOf(node, node["stages"] === undefined ? "predicate" : "stages");

/** Returns the keys and values of an object constructor or a grouping. @throws {TypeError} */
export const pairsOf = ({ lhs }: AstNode): Pairs =>
  Array.isArray(lhs) ? lhs.map(([key, value]: readonly unknown[]) => [asNode(key), asNode(value)]) : [];

/** Calls `visit` for a node and all nodes below it, parents first. */
export function walk(value: unknown, visit: (node: AstNode) => void): void {
  if (Array.isArray(value)) return value.forEach((item) => walk(item, visit));
  if (typeof value !== "object" || value === null) return;
  if (isNode(value)) visit(value);
  for (const part of Object.values(value)) walk(part, visit);
}

/** Finds the variables that an expression reads but does not bind (by `:=`, as a parameter, by `@` or `#`). */
export function findFreeVariables(ast: AstNode): Set<string> {
  const read = new Set<string>();
  const bound = new Set<string>(["", "$"]);
  walk(ast, (node) => {
    if (node.type === "variable") read.add(String(node.value));
    if (node.type === "bind") bound.add(String(childOf(node, "lhs").value));
    if (node.type === "lambda")
      for (const parameter of childrenOf(node, "arguments")) bound.add(String(parameter.value));
    for (const key of ["focus", "index"]) if (typeof node[key] === "string") bound.add(node[key]);
  });
  return read.difference(bound);
}

/** Whether the last stage of a step selects one member by a constant index, as in `[0]`. */
function endsWithIndex(stages: readonly AstNode[]): boolean {
  const expression = stages.at(-1)?.["expr"];
  if (!isNode(expression)) return false;
  return expression.type === "number" || (expression.type === "unary" && expression.value === "-");
}

function findCollapsingStep(steps: readonly AstNode[]): AstNode | undefined {
  const last = steps.at(-1);
  if (steps.length > 1 && last?.type === "unary" && last.value === "{") return last;
  let many: AstNode | undefined;
  for (const step of steps) {
    const stages = stagesOf(step);
    const hasIndex = endsWithIndex(stages);
    // The input of a sort is one list. Any other step selects a member of each value of the previous steps.
    if (hasIndex && step.type === "sort") many = undefined;
    if (hasIndex) continue;
    if (step.type === "sort" || step.type === "wildcard" || step.type === "descendant" || stages.length > 0)
      many = step;
  }
  return many;
}

/**
 * Finds a result that is only a list if it has at least two members. JSONata turns a path with one result into that
 * result, and a path without results into nothing (jsonata#330, #616). A strictly typed client fails on both. `path[]`
 * keeps a list of one, but not an empty one.
 *
 * Searches the parts that return the value: the whole expression, the branches of a condition, the members of an
 * object.
 *
 * @returns The node of the list; undefined if missing.
 */
export function findCollapsingList(node: AstNode | undefined): AstNode | undefined {
  if (!node) return undefined;
  if (node.type === "path")
    return node["keepSingletonArray"] ? node : findCollapsingStep(childrenOf(node, "steps"));
  if (node.type === "condition")
    return findCollapsingList(findChild(node, "then")) ?? findCollapsingList(findChild(node, "else"));
  if (node.type === "block" && endsWithIndex(stagesOf(node))) return undefined;
  if (node.type === "block") return findCollapsingList(childrenOf(node, "expressions").at(-1));
  if (node.type !== "unary" || node.value !== "{") return undefined;
  for (const [, value] of pairsOf(node)) {
    const found = findCollapsingList(value);
    if (found) return found;
  }
  return undefined;
}
