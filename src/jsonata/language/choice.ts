import { childrenOf, findChild, type AstNode } from "./ast.ts";

/** The condition of an expression whose result is either nothing or one unchanged variable. */
interface ChoiceAst {
  /** The name of the variable, without the `$`. */
  readonly variable: string;
  /** An expression that is true if the result is the variable, and false if the result is null or undefined. */
  readonly test: AstNode;
}

/**
 * Finds expressions such as `a = 1 ? $value` and `a ? null : b ? $value`: conditions whose branches are one variable,
 * null, or missing. A caller that has the variable as text then does not need to parse and print it.
 *
 * @returns `undefined` for every other expression.
 */
export function findChoice(ast: AstNode): ChoiceAst | undefined {
  const variables = new Set<string>();
  const test = toTest(ast, variables);
  const [variable, ...others] = variables;
  if (ast.type !== "condition" || !test || variable === undefined || others.length > 0) return undefined;
  return { variable, test };
}

const literal = (value: boolean): AstNode => ({ type: "value", value });

/** Returns the conditions with each variable replaced by true. Adds the names of the variables to `variables`. */
function toTest(node: AstNode | undefined, variables: Set<string>): AstNode | undefined {
  if (node === undefined) return literal(false);
  const { type, value, position: _position, ...rest } = node;
  if (type === "condition") {
    const { condition: _condition, then: _then, else: _else, ...others } = rest;
    const branches = ["then", "else"].map((branch) => toTest(findChild(node, branch), variables));
    if (Object.keys(others).length > 0 || branches.includes(undefined)) return undefined;
    return { ...node, ...Object.fromEntries(["then", "else"].map((name, index) => [name, branches[index]])) };
  }
  if (type === "block") {
    const { expressions: _expressions, ...others } = rest;
    const expressions = childrenOf(node, "expressions");
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
