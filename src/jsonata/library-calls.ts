import { childOf, childrenOf, walk, type AstNode } from "./ast.ts";
import { isLeftToLibrary } from "./runtime/builtins/table.ts";

/**
 * Finds the built-in functions that a compiled expression calls in the package `jsonata`.
 *
 * @param variables The variables that the expression reads and does not bind itself.
 */
export function findLibraryCalls(ast: AstNode, variables: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set([...variables].filter((name) => isLeftToLibrary(name, 1)));
  const piped = new Set<unknown>();
  walk(ast, (node) => {
    if (node.type === "apply") piped.add(node["rhs"]);
    if (node.type !== "function" && node.type !== "partial") return;
    const { type, value } = childOf(node, "procedure");
    const count = childrenOf(node, "arguments").length + (piped.has(node) ? 1 : 0);
    const name = String(value);
    if (type === "variable" && variables.has(name) && isLeftToLibrary(name, count)) found.add(name);
  });
  return found;
}
