import { calledName, childOf, childrenOf, findChild, isPlain, walk, type AstNode } from "./ast.ts";

/** Functions that return undefined if their first argument is undefined. */
const UNDEFINED_FOR_UNDEFINED = new Set([
  "abs",
  "ceil",
  "floor",
  "length",
  "number",
  "round",
  "string",
  "trim",
]);

const LITERALS = new Set(["string", "number", "value"]);
const ARITHMETIC = new Set(["+", "-", "*", "/", "%"]);

/** Whether a path starts with a member of the variable, so that without that member the path is undefined. */
function isPathFrom(path: AstNode, variable: string): boolean {
  const { group, keepSingletonArray } = path;
  const [first, second] = childrenOf(path, "steps");
  // A predicate on a missing member is still evaluated, and may fail.
  const isMember = second?.type === "name" && second["stages"] === undefined;
  const startsWithMember = first?.value === variable && isPlain(first, "variable") && isMember;
  return startsWithMember && group === undefined && keepSingletonArray !== true;
}

/** Whether one operand is undefined if the variable is empty, and the other operand is a literal, which can't fail. */
function isOperandMissing(node: AstNode, variable: string): boolean {
  const [left, right] = [childOf(node, "lhs"), childOf(node, "rhs")];
  return (
    (isUndefinedWithout(left, variable) && LITERALS.has(right.type)) ||
    (LITERALS.has(left.type) && isUndefinedWithout(right, variable))
  );
}

const isFalseWithout = (node: AstNode, variable: string): boolean =>
  isUndefinedWithout(node, variable) ||
  (node.type === "binary" && node.value === "=" && isOperandMissing(node, variable)) ||
  (node.type === "binary" && node.value === "and" && isFalseWithout(childOf(node, "lhs"), variable));

function isUndefinedWithout(node: AstNode, variable: string): boolean {
  const { type, value } = node;
  if (type === "path") return isPathFrom(node, variable);
  if (type === "binary") return ARITHMETIC.has(String(value)) && isOperandMissing(node, variable);
  if (type === "condition") {
    const otherwise = findChild(node, "else");
    const isFalse = isFalseWithout(childOf(node, "condition"), variable);
    return isFalse && (otherwise === undefined || isUndefinedWithout(otherwise, variable));
  }
  if (!UNDEFINED_FOR_UNDEFINED.has(calledName(node) ?? "")) return false;
  const [first, ...rest] = childrenOf(node, "arguments");
  return first !== undefined && rest.length === 0 && isUndefinedWithout(first, variable);
}

/**
 * Finds the variables that an expression needs: if one of them is an empty object, the result is certainly undefined.
 * The syntax tree does not show all of them, so the set may be too small, but never too large.
 *
 * @param variables The variables to check.
 */
export function findRequiredVariables(ast: AstNode, variables: ReadonlySet<string>): ReadonlySet<string> {
  let binds = false;
  walk(ast, ({ type }) => {
    if (type === "bind" || type === "lambda") binds = true;
  });
  return new Set(binds ? [] : [...variables].filter((variable) => isUndefinedWithout(ast, variable)));
}
