/** A node of JSONata's syntax tree (`jsonata(...).ast()`), as far as this folder reads it. */
export interface AstNode {
  readonly type: string;
  readonly value?: unknown;
  readonly position?: number;
  readonly [part: string]: unknown;
}

/** Whether a value in a syntax tree is a node. */
export const isNode = (value: unknown): value is AstNode =>
  typeof value === "object" && value !== null && typeof (value as AstNode).type === "string";

/** Returns a part of a node that is a node. */
export const childOf = (node: AstNode, name: string): AstNode => node[name] as AstNode;

/** Calls `visit` for a node and all nodes below it, parents first. */
export function walk(value: unknown, visit: (node: AstNode) => void): void {
  if (Array.isArray(value)) return value.forEach((item) => walk(item, visit));
  if (typeof value !== "object" || value === null) return;
  if (isNode(value)) visit(value);
  for (const part of Object.values(value)) walk(part, visit);
}

/** Finds the variables that an expression reads but does not bind itself (by `:=`, as a parameter, by `@` or `#`). */
export function findFreeVariables(ast: AstNode): Set<string> {
  const read = new Set<string>();
  const bound = new Set<string>(["", "$"]);
  walk(ast, (node) => {
    if (node.type === "variable") read.add(String(node.value));
    if (node.type === "bind") bound.add(String((node["lhs"] as AstNode).value));
    if (node.type === "lambda")
      for (const parameter of node["arguments"] as AstNode[]) bound.add(String(parameter.value));
    for (const key of ["focus", "index"]) if (typeof node[key] === "string") bound.add(node[key]);
  });
  return read.difference(bound);
}

/** Whether the last stage of a step selects one member by a constant index, as in `[0]`. */
function endsWithIndex(stages: unknown): boolean {
  const last = (stages as AstNode[] | undefined)?.at(-1);
  const expression = last?.["expr"] as AstNode | undefined;
  return expression?.type === "number" || (expression?.type === "unary" && expression.value === "-");
}

function findCollapsingStep(steps: readonly AstNode[]): AstNode | undefined {
  const last = steps.at(-1);
  if (steps.length > 1 && last?.type === "unary" && last.value === "{") return last;
  let many: AstNode | undefined;
  for (const step of steps) {
    const stages = (step["stages"] ?? step["predicate"]) as AstNode[] | undefined;
    if (step.type === "sort" || step.type === "wildcard" || step.type === "descendant" || stages?.length)
      many = step;
    if (endsWithIndex(stages)) many = undefined;
  }
  return many;
}

/**
 * Finds a result that is a list only if it has two members or more. JSONata turns a path with one result into that
 * result, and a path without results into nothing (jsonata#330, #616). A strictly typed client fails on both. `path[]`
 * keeps a list of one, but not an empty one.
 *
 * Searches where the value comes from: the whole expression, the branches of a condition, the members of an object.
 *
 * @returns The node of the list; undefined if there is none.
 */
export function findCollapsingList(node: AstNode | undefined): AstNode | undefined {
  if (!node) return undefined;
  if (node.type === "path")
    return node["keepSingletonArray"] ? node : findCollapsingStep(node["steps"] as AstNode[]);
  if (node.type === "condition")
    return findCollapsingList(node["then"] as AstNode) ?? findCollapsingList(node["else"] as AstNode);
  if (node.type === "block") return findCollapsingList((node["expressions"] as AstNode[]).at(-1));
  if (node.type !== "unary" || node.value !== "{") return undefined;
  for (const [, value] of node["lhs"] as [AstNode, AstNode][]) {
    const found = findCollapsingList(value);
    if (found) return found;
  }
  return undefined;
}
