import { childOf, childrenOf, type AstNode } from "../language/ast.ts";
import { NotCompilableError, type Code } from "./code.ts";
import type { Frame, ProgramUnit, Scope, Variable } from "./scope.ts";

/** Returns a JavaScript name similar to the name of a JSONata variable, which may contain any character. */
export const createVariableName = (unit: ProgramUnit, name: string): string =>
  unit.createName(/^\w+$/.test(name) ? `$${name}_` : "$");

const createLocal = (js: string): Variable => ({ js, kind: "any", isLocal: true });

/** The names that an expression of a block binds: `$a := $b := …` binds two. */
function findBoundNames(expression: AstNode): string[] {
  if (expression.type !== "bind") return [];
  return [String(childOf(expression, "lhs").value), ...findBoundNames(childOf(expression, "rhs"))];
}

/**
 * Emits the expressions of a block, in order. A name refers to the variable of an outer block until the block binds it.
 *
 * @throws {NotCompilableError} If a function reads a variable that is bound after it.
 */
export function emitInBlock(expressions: readonly AstNode[], scope: Scope): Code[] {
  const { unit, body, frame: outer } = scope;
  const later = new Set(expressions.flatMap(findBoundNames));
  const bound = new Map<string, Variable>();
  const frame: Frame = {
    find(name, isInFunction) {
      const variable = bound.get(name);
      if (variable) return variable;
      if (isInFunction && later.has(name))
        throw new NotCompilableError("a function that reads a variable bound after it");
      return outer.find(name, isInFunction);
    },
  };
  /**
   * Emits `$name := value`. The variable is bound after its value is computed, so the value may read an outer variable
   * of the same name.
   */
  function emitMember(expression: AstNode): Code {
    if (expression.type !== "bind") return unit.emit(expression, { ...scope, frame });
    const value = emitMember(childOf(expression, "rhs"));
    const name = String(childOf(expression, "lhs").value);
    if (name === "") return value;
    const variable = bound.get(name) ?? createLocal(createVariableName(unit, name));
    if (!bound.has(name)) body.declared.push(variable.js);
    bound.set(name, variable);
    return { js: `(${variable.js} = ${value.js})`, kind: value.kind };
  }
  return expressions.map(emitMember);
}

/** Returns the scope inside a function, and the JavaScript names of its parameters. */
export function lambdaScope(
  scope: Scope,
  node: AstNode,
): { readonly scope: Scope; readonly names: readonly string[] } {
  const parameters = childrenOf(node, "arguments").map(
    ({ value }) => [String(value), createLocal(createVariableName(scope.unit, String(value)))] as const,
  );
  const bound = new Map(parameters);
  const frame: Frame = { find: (name) => bound.get(name) ?? scope.frame.find(name, true) };
  return { scope: { ...scope, frame }, names: parameters.map(([, { js }]) => js) };
}
