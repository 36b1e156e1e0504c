import { isRegExp } from "node:util/types";
import { prepareRegex } from "../regex/index.ts";
import type { Node } from "../ast.ts";
import { quote, type Code, type Kind } from "./code.ts";
import { test } from "./operators.ts";
import { temporary, type Scope } from "./scope.ts";

/**
 * Built-in functions that a call is not needed for: their arguments have the everyday types, or are
 * missing. Whatever else they are goes the ordinary way, which knows what is wrong with them.
 */
interface Direct {
  readonly takes: "number" | "string";
  readonly js: (argument: string) => string;
  readonly kind: Kind;
}

const method = (name: string): Direct => ({
  takes: "string",
  js: (text) => `${text}.${name}()`,
  kind: "scalar",
});

const math = (name: string): Direct => ({
  takes: "number",
  js: (value) => `Math.${name}(${value})`,
  kind: "scalar",
});

const OF_ONE: Readonly<Record<string, Direct>> = {
  floor: math("floor"),
  ceil: math("ceil"),
  abs: math("abs"),
  lowercase: method("toLowerCase"),
  uppercase: method("toUpperCase"),
  string: { takes: "string", js: (text) => text, kind: "scalar" },
  number: { takes: "number", js: (value) => value, kind: "scalar" },
};

/** `otherwise` is the ordinary call, of the arguments as they are named now. */
type Otherwise = (args: readonly string[]) => string;

/** The direct form of a call, if it has one. */
export function emitDirect(
  name: string,
  args: readonly Node[],
  scope: Scope,
  otherwise: Otherwise,
): Code | undefined {
  const [first, second] = args;
  if (first === undefined) return undefined;
  if (name === "contains" && second && args.length === 2)
    return emitContains(first, second, scope, otherwise);
  if (name === "replace" && second) return emitReplace(args, scope, otherwise);
  if (args.length > 1) return undefined;
  if (name === "exists" || name === "boolean" || name === "not") return emitTest(name, first, scope);
  const direct = Object.hasOwn(OF_ONE, name) ? OF_ONE[name] : undefined;
  if (!direct) return undefined;
  const value = temporary(scope);
  const is = `typeof (${value} = ${scope.unit.emit(first, scope).js}) === "${direct.takes}"`;
  const js = `(${is} ? ${direct.js(value)} : ${value} === undefined ? undefined : ${otherwise([value])})`;
  return { js, kind: direct.kind };
}

function emitTest(name: "exists" | "boolean" | "not", argument: Node, scope: Scope): Code {
  const code = scope.unit.emit(argument, scope);
  if (name === "exists") return { js: `(${code.js} !== undefined)`, kind: "boolean" };
  const not = name === "not" ? "!" : "";
  if (code.kind === "boolean") return { js: `(${not}${code.js})`, kind: "boolean" };
  const value = temporary(scope);
  const known = test({ js: value, kind: code.kind }, scope);
  return { js: `((${value} = ${code.js}) === undefined ? undefined : ${not}${known})`, kind: "truth" };
}

function emitContains(text: Node, token: Node, scope: Scope, otherwise: Otherwise): Code | undefined {
  const { unit } = scope;
  const value = temporary(scope);
  const is = `typeof (${value} = ${unit.emit(text, scope).js}) === "string"`;
  if (token.type === "regex" && isRegExp(token.value) && !token["predicate"]) {
    const { source, flags } = token.value;
    const found = `${unit.use("matches")}(${value}, ${unit.constant(prepareRegex(source, flags)())})`;
    return { js: `(${is} ? ${found} : ${otherwise([value, unit.emit(token, scope).js])})`, kind: "truth" };
  }
  if (token.type !== "string" || token["predicate"]) return undefined;
  const wanted = unit.emit(token, scope).js;
  return { js: `(${is} ? ${value}.includes(${wanted}) : ${otherwise([value, wanted])})`, kind: "truth" };
}

/** One text for another. */
function emitReplace(args: readonly Node[], scope: Scope, otherwise: Otherwise): Code | undefined {
  const { unit } = scope;
  const [text, token, replacement] = args;
  if (!text || args.length !== 3 || !isLiteral(token) || !isLiteral(replacement)) return undefined;
  if (token.value === "") return undefined;
  const value = temporary(scope);
  const [from, to] = [quote(token.value), quote(replacement.value)];
  const is = `typeof (${value} = ${unit.emit(text, scope).js}) === "string"`;
  const replaced = `${unit.use("replaceText")}(${value}, ${from}, ${to})`;
  return { js: `(${is} ? ${replaced} : ${otherwise([value, from, to])})`, kind: "any" };
}

const isLiteral = (node: Node | undefined): node is Node & { readonly value: string } =>
  node?.type === "string" && node["predicate"] === undefined;
