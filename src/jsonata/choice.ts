import type { Node } from "./ast.ts";

/** The test of an expression that gives a variable unchanged or nothing. */
export interface ChoiceAst {
  /** The name of the variable, without the `$`. */
  readonly variable: string;
  /** Gives true where the expression gives the variable, and false where it gives null or nothing. */
  readonly test: Node;
}

/**
 * Finds expressions such as `a = 1 ? $value` and `a ? null : b ? $value`: conditions whose branches are one variable,
 * null, or missing. For these a caller that has the variable as text does not need to parse and print it.
 *
 * @returns `undefined` for every other expression
 */
export function findChoice(ast: Node): ChoiceAst | undefined {
  const variables = new Set<string>();
  const test = toTest(ast, variables);
  const [variable, ...others] = variables;
  if (ast.type !== "condition" || !test || variable === undefined || others.length > 0) return undefined;
  return { variable, test };
}

const literal = (value: boolean): Node => ({ type: "value", value });

/** The same conditions with true in place of a variable. Adds the name of each variable to `variables`. */
function toTest(node: Node | undefined, variables: Set<string>): Node | undefined {
  if (node === undefined) return literal(false);
  const { type, value, position: _position, ...rest } = node;
  if (type === "condition") {
    const { condition: _condition, then: first, else: second, ...others } = rest as Record<string, Node>;
    const branches = [first, second].map((branch) => toTest(branch, variables));
    if (Object.keys(others).length > 0 || branches.includes(undefined)) return undefined;
    return { ...node, ...Object.fromEntries(["then", "else"].map((name, index) => [name, branches[index]])) };
  }
  if (type === "block") {
    const { expressions = [], ...others } = rest as { readonly expressions?: readonly Node[] };
    return expressions.length === 1 && Object.keys(others).length === 0
      ? toTest(expressions[0], variables)
      : undefined;
  }
  if (Object.keys(rest).length > 0) return undefined;
  if (type === "value" && value === null) return literal(false);
  // `$` and `$$` are the context and the input.
  if (type !== "variable" || value === "" || value === "$") return undefined;
  variables.add(String(value));
  return literal(true);
}
