import { childOf, walk, type AstNode } from "../ast.ts";
import { NotCompilableError, type CodeKind } from "./code.ts";
import type { Frame, Scope, ProgramUnit } from "./scope.ts";

/** Finds the names that `:=` binds in these nodes, without those inside nested blocks and functions. */
function findBoundNames(parts: readonly unknown[]): Set<string> {
  const names = new Set<string>();
  const inner = new Set<unknown>();
  const visit = (node: AstNode): void => {
    if (inner.has(node)) return;
    if (node.type === "bind") names.add(String(childOf(node, "lhs").value));
    if (node.type === "block" || (node.type === "lambda" && node["thunk"] !== true))
      walk(Object.values(node), (below) => inner.add(below));
  };
  for (const part of parts) walk(part, visit);
  return names;
}

/**
 * Rejects variables that a member of an array or an object binds for the code around it. The interpreter evaluates members
 * side by side, so which of them see the variable depends on how many steps each takes.
 *
 * @throws {NotCompilableError}
 */
export function rejectSharedBindings(ast: AstNode): void {
  walk(ast, (node) => {
    const isConstructor = node.type === "unary" && (node.value === "[" || node.value === "{");
    const members = isConstructor ? (node["expressions"] ?? node["lhs"]) : node.group;
    if (findBoundNames([members]).size > 0)
      throw new NotCompilableError("a variable that a member of an array or object binds");
  });
}

interface Local {
  readonly isLocal: true;
  readonly js: string;
  kind: CodeKind;
  isCertainlySet: boolean;
  /** Code of a condition: whether the variable has been set. */
  readonly isSetCode: string;
}

/**
 * Creates a frame inside another. While a variable is not set, its name refers to the outer variable: JSONata searches
 * the frames when it reads a variable.
 */
function createFrame(outer: Frame, locals: ReadonlyMap<string, Local>): Frame {
  return {
    find(name) {
      const local = locals.get(name);
      if (!local) return outer.find(name);
      if (local.isCertainlySet) return local;
      const { js, builtin } = outer.find(name);
      if (builtin !== undefined)
        throw new NotCompilableError(`a variable with the name of the function $${builtin}`);
      return { js: `(${local.isSetCode} ? ${local.js} : ${js})`, kind: "any", isLocal: true };
    },
    bind: (name) => locals.get(name)?.js ?? outer.bind(name),
    markSet(name, kind) {
      const local = locals.get(name);
      if (local) Object.assign(local, { isCertainlySet: true, kind });
    },
  };
}

/** Returns a JavaScript name similar to the name of a JSONata variable, which may contain any character. */
const createVariableName = (unit: ProgramUnit, name: string): string =>
  unit.createName(/^\w+$/.test(name) ? `$${name}_` : "$");

function declareLocals({ unit, body }: Scope, names: Iterable<string>): Map<string, Local> {
  const found = new Map<string, Local>();
  for (const name of names) {
    const js = createVariableName(unit, name);
    const unset = unit.useHelper("UNSET");
    body.declared.push(`${js} = ${unset}`);
    found.set(name, {
      isLocal: true,
      js,
      kind: "any",
      isCertainlySet: false,
      isSetCode: `${js} !== ${unset}`,
    });
  }
  return found;
}

/** Returns the scope inside a block, with the variables that its expressions bind. */
export const blockScope = (scope: Scope, parts: readonly AstNode[]): Scope => ({
  ...scope,
  frame: createFrame(scope.frame, declareLocals(scope, findBoundNames(parts))),
});

/** Returns the scope inside a lambda, and the JavaScript names of its parameters. All parameters count as set. */
export function lambdaScope(
  scope: Scope,
  parameters: readonly string[],
  body: AstNode,
): { readonly scope: Scope; readonly names: readonly string[] } {
  const all = declareLocals(scope, findBoundNames([body]).difference(new Set(parameters)));
  const names = parameters.map((parameter) => {
    const js = createVariableName(scope.unit, parameter);
    all.set(parameter, { isLocal: true, js, kind: "any", isCertainlySet: true, isSetCode: "true" });
    return js;
  });
  return { scope: { ...scope, frame: createFrame(scope.frame, all) }, names };
}
