import { childOf, childrenOf, walk, type AstNode } from "../language/ast.ts";
import { isLeftToLibrary } from "../runtime/builtins/table.ts";

/**
 * Finds the built-in functions that a compiled expression calls in the package `jsonata`.
 *
 * @param variables The variables that the expression reads and does not bind itself.
 */
export function findLibraryCalls(ast: AstNode, variables: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set([...variables].filter((name) => isLeftToLibrary(name, 1)));
  walk(ast, (node) => {
    if (node.type !== "function") return;
    const { type, value } = childOf(node, "procedure");
    const count = childrenOf(node, "arguments").length;
    const name = String(value);
    if (type === "variable" && variables.has(name) && isLeftToLibrary(name, count)) found.add(name);
  });
  return found;
}
