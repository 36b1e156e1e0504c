import { isRegExp } from "node:util/types";
import { prepareRegex } from "../regex/index.ts";
import type { Node } from "../ast.ts";
import { NotCompiled, quote, type Code } from "./code.ts";
import { positionOf, type Scope } from "./scope.ts";

/** Literals, variables, and what stands for a whole set of things. */

export const emitString = (node: Node): Code => ({ js: quote(node.value as string), kind: "string" });

export function emitNumber(node: Node): Code {
  const value = node.value as number;
  return { js: Object.is(value, -0) ? "-0" : `${value}`, kind: "scalar" };
}

/** true, false and null. */
export const emitConstant = (node: Node): Code => ({
  js: String(node.value),
  kind: typeof node.value === "boolean" ? "boolean" : "scalar",
});

export function emitRegex(node: Node, scope: Scope): Code {
  // A pattern on the left of ?: or ?? comes out of the parser broken.
  if (!isRegExp(node.value)) throw new NotCompiled("a regular expression on the left of ?: or ??");
  const { unit } = scope;
  const js = `${unit.use("matcher")}(${unit.constant(prepareRegex(node.value.source, node.value.flags))}, ${positionOf(node, scope)})`;
  return { js, kind: "value" };
}

export function emitVariable(node: Node, scope: Scope): Code {
  const name = node.value as string;
  if (name !== "") {
    const variable = scope.frame.find(name);
    if (variable.builtin === "toMillis" || variable.builtin === "fromMillis")
      throw new NotCompiled(`$${name} as a value`);
    return variable;
  }
  if (scope.single) return { js: scope.context, kind: "value" };
  return { js: `${scope.unit.use("contextValue")}(${scope.context})`, kind: "any" };
}

/** `%`: a step that somebody asks for its parent binds it under the parser's own name. */
export const emitParent = (node: Node, scope: Scope): Code =>
  scope.frame.find((node["slot"] as { readonly label: string }).label);

export const emitWildcard = (_node: Node, { unit, context }: Scope): Code => ({
  js: `${unit.use("wildcard")}(${context})`,
  kind: "any",
});

export const emitDescendants = (_node: Node, { unit, context }: Scope): Code => ({
  js: `${unit.use("descendants")}(${context})`,
  kind: "any",
});
