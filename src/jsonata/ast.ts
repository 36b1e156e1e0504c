/** The parts of JSONata's syntax tree that the loader looks at (`jsonata(...).ast()`). */
export interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly position?: number;
  readonly [part: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string";

/** Calls `visit` for a node and everything below it, parents first. */
export function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) return value.forEach((item) => walk(item, visit));
  if (typeof value !== "object" || value === null) return;
  if (isNode(value)) visit(value);
  for (const part of Object.values(value)) walk(part, visit);
}

/** Variables that are read and not bound anywhere inside: by `:=`, as a parameter, by `@` or `#`. */
export function freeVariables(ast: Node): Set<string> {
  const read = new Set<string>();
  const bound = new Set<string>(["", "$"]);
  walk(ast, (node) => {
    if (node.type === "variable") read.add(String(node.value));
    if (node.type === "bind") bound.add(String((node["lhs"] as Node).value));
    if (node.type === "lambda")
      for (const parameter of node["arguments"] as Node[]) bound.add(String(parameter.value));
    for (const key of ["focus", "index"]) if (typeof node[key] === "string") bound.add(node[key]);
  });
  return read.difference(bound);
}

/** Is the last thing that happens to the path the choice of one element, `[0]`? */
function takesOne(stages: unknown): boolean {
  const last = (stages as Node[] | undefined)?.at(-1);
  const expression = last?.["expr"] as Node | undefined;
  return expression?.type === "number" || (expression?.type === "unary" && expression.value === "-");
}

function pathCollapses(steps: readonly Node[]): Node | undefined {
  const last = steps.at(-1);
  if (steps.length > 1 && last?.type === "unary" && last.value === "{") return last;
  let many: Node | undefined;
  for (const step of steps) {
    const stages = (step["stages"] ?? step["predicate"]) as Node[] | undefined;
    if (step.type === "sort" || step.type === "wildcard" || step.type === "descendant" || stages?.length)
      many = step;
    if (takesOne(stages)) many = undefined;
  }
  return many;
}

/**
 * Finds a result that is a list only as long as it has two members or more. JSONata turns a path that
 * finds one thing into the thing and one that finds none into nothing (jsonata#330, #616), which a
 * strictly typed client does not survive; `path[]` keeps one, yet loses none. Looks where values come from: the whole expression, the
 * branches of a condition, the members of an object.
 */
export function collapsingList(node: Node | undefined): Node | undefined {
  if (!node) return undefined;
  if (node.type === "path") return node["keepSingletonArray"] ? node : pathCollapses(node["steps"] as Node[]);
  if (node.type === "condition")
    return collapsingList(node["then"] as Node) ?? collapsingList(node["else"] as Node);
  if (node.type === "block") return collapsingList((node["expressions"] as Node[]).at(-1));
  if (node.type !== "unary" || node.value !== "{") return undefined;
  for (const [, value] of node["lhs"] as [Node, Node][]) {
    const found = collapsingList(value);
    if (found) return found;
  }
  return undefined;
}
