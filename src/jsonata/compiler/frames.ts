import { walk, type Node } from "../ast.ts";
import { quote, type Kind } from "./code.ts";
import type { Frame, Scope, Unit } from "./scope.ts";

/** Names that `:=` binds in a part of an expression, without those inside blocks and functions of its own. */
function namesBound(parts: readonly Node[]): Set<string> {
  const names = new Set<string>();
  const inner = new Set<unknown>();
  const visit = (node: Node): void => {
    if (inner.has(node)) return;
    if (node.type === "bind") names.add(String((node["lhs"] as Node).value));
    if (node.type === "block" || (node.type === "lambda" && node["thunk"] !== true))
      walk(Object.values(node), (below) => inner.add(below));
  };
  for (const part of parts) walk(part, visit);
  return names;
}

interface Local {
  readonly js: string;
  kind: Kind;
  settled: boolean;
  /** Code that tells whether it has been set, while that is not known. */
  readonly isSet: string;
}

/**
 * A frame of variables inside another. A variable that may not have been set yet is the outer one of its
 * name, as in JSONata, where a frame is searched when a variable is read.
 */
function frameOf(outer: Frame, own: ReadonlyMap<string, Local>): Frame {
  return {
    find(name) {
      const local = own.get(name);
      if (!local) return outer.find(name);
      if (local.settled) return local;
      return { js: `(${local.isSet} ? ${local.js} : ${outer.find(name).js})`, kind: "any" };
    },
    bind: (name) => own.get(name)?.js ?? outer.bind(name),
    settle(name, kind) {
      const local = own.get(name);
      if (local) Object.assign(local, { settled: true, kind });
    },
  };
}

/** A JavaScript name that reminds of the variable's own, which can hold any character. */
const nameFor = (unit: Unit, name: string): string => unit.name(/^\w+$/.test(name) ? `$${name}_` : "$");

function declare({ unit, body }: Scope, names: Iterable<string>): Map<string, Local> {
  const found = new Map<string, Local>();
  for (const name of names) {
    const js = nameFor(unit, name);
    const unset = unit.use("UNSET");
    body.declared.push(`${js} = ${unset}`);
    found.set(name, { js, kind: "any", settled: false, isSet: `${js} !== ${unset}` });
  }
  return found;
}

/** The inside of a block, or another place with variables of its own. */
export const blockScope = (scope: Scope, parts: readonly Node[]): Scope => ({
  ...scope,
  frame: frameOf(scope.frame, declare(scope, namesBound(parts))),
});

/** The inside of a lambda: its parameters are set, missing ones to nothing. Gives their JavaScript names too. */
export function lambdaScope(
  scope: Scope,
  parameters: readonly string[],
  body: Node,
): { readonly scope: Scope; readonly names: readonly string[] } {
  const all = declare(scope, namesBound([body]).difference(new Set(parameters)));
  const names = parameters.map((parameter) => {
    const js = nameFor(scope.unit, parameter);
    all.set(parameter, { js, kind: "any", settled: true, isSet: "true" });
    return js;
  });
  return { scope: { ...scope, frame: frameOf(scope.frame, all) }, names };
}

/** The inside of a step of a tuple stream, which reads the variables that steps before it bound, if they did. */
export function tupleScope(scope: Scope, tuple: string, names: readonly string[], part: Node): Scope {
  const bound = new Map<string, Local>(
    names.map((name) => {
      const isSet = `Object.hasOwn(${tuple}, ${quote(name)})`;
      return [name, { js: `${tuple}[${quote(name)}]`, kind: "any", settled: false, isSet }];
    }),
  );
  const own = declare(scope, namesBound([part]));
  return { ...scope, frame: frameOf(frameOf(scope.frame, bound), own) };
}
