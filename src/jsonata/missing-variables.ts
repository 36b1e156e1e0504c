import { walk, type Node } from "./ast.ts";

/** Functions that give nothing for nothing, whatever else they are given. */
const NOTHING_FOR_NOTHING = new Set(["abs", "ceil", "floor", "length", "number", "round", "string", "trim"]);

const LITERALS = new Set(["string", "number", "value"]);
const ARITHMETIC = new Set(["+", "-", "*", "/", "%"]);

/** A variable, and nothing done to it. */
const isPlain = ({ type, value: _name, position: _position, ...rest }: Node): boolean =>
  type === "variable" && Object.keys(rest).length === 0;

/** A path from a member of the variable on: without that there is nothing to go on with. */
function isPathFrom({ steps, group, keepSingletonArray }: Node, variable: string): boolean {
  const [first, second] = steps as readonly [Node, Node?];
  const ownPath = first.value === variable && isPlain(first) && second?.type === "name";
  return ownPath && group === undefined && keepSingletonArray !== true;
}

/** One of two is missing, and the other can do nothing but be there. */
function isOneMissing({ lhs, rhs }: Node, variable: string): boolean {
  const [left, right] = [lhs as Node, rhs as Node];
  return (
    (isMissing(left, variable) && LITERALS.has(right.type)) ||
    (LITERALS.has(left.type) && isMissing(right, variable))
  );
}

const isFalse = (node: Node, variable: string): boolean =>
  isMissing(node, variable) ||
  (node.type === "binary" && node.value === "=" && isOneMissing(node, variable)) ||
  (node.type === "binary" && node.value === "and" && isFalse(node["lhs"] as Node, variable));

function isMissing(node: Node, variable: string): boolean {
  const { type, value } = node;
  if (type === "path") return isPathFrom(node, variable);
  if (type === "binary") return ARITHMETIC.has(String(value)) && isOneMissing(node, variable);
  if (type === "condition") {
    const { condition, else: otherwise } = node as Node & { readonly condition: Node; readonly else?: Node };
    return isFalse(condition, variable) && (otherwise === undefined || isMissing(otherwise, variable));
  }
  if (type !== "function") return false;
  const [first, ...rest] = node["arguments"] as readonly Node[];
  const { type: called, value: name } = node["procedure"] as Node;
  const known = called === "variable" && NOTHING_FOR_NOTHING.has(String(name));
  return known && first !== undefined && rest.length === 0 && isMissing(first, variable);
}

/**
 * Of these variables, those without which an expression surely finds nothing: where one is an object without
 * members, whatever else there is. Others may be such that can't be told from its syntax tree.
 */
export function requiredVariables(ast: Node, variables: ReadonlySet<string>): ReadonlySet<string> {
  let binds = false;
  walk(ast, ({ type }) => {
    if (type === "bind" || type === "lambda") binds = true;
  });
  return new Set(binds ? [] : [...variables].filter((variable) => isMissing(ast, variable)));
}
