import { calledName, childrenOf, walk, type AstNode } from "../language/ast.ts";
import { isLeftToLibrary } from "../runtime/builtins/table.ts";

/**
 * Finds the built-in functions that a compiled expression calls in the package `jsonata`.
 *
 * @param variables The variables that the expression reads and does not bind itself.
 */
export function findLibraryCalls(ast: AstNode, variables: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set([...variables].filter((name) => isLeftToLibrary(name, 1)));
  walk(ast, (node) => {
    const name = calledName(node);
    if (name === undefined || !variables.has(name)) return;
    if (isLeftToLibrary(name, childrenOf(node, "arguments").length)) found.add(name);
  });
  return found;
}
