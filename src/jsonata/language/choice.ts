import { childrenOf, findChild, isPlain, type AstNode } from "./ast.ts";

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
  const { value } = node;
  if (isPlain(node, "value")) return value === null ? literal(false) : undefined;
  if (isPlain(node, "block", ["expressions"])) {
    const [only, ...others] = childrenOf(node, "expressions");
    return only && others.length === 0 ? toTest(only, variables) : undefined;
  }
  if (isPlain(node, "condition", ["condition", "then", "else"])) {
    const branches = ["then", "else"].map(
      (name) => [name, toTest(findChild(node, name), variables)] as const,
    );
    const isChoice = branches.every(([, test]) => test !== undefined);
    return isChoice ? { ...node, ...Object.fromEntries(branches) } : undefined;
  }
  // `$` and `$$` are the context and the input.
  if (!isPlain(node, "variable") || value === "" || value === "$") return undefined;
  variables.add(String(value));
  return literal(true);
}
