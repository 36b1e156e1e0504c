import { test } from "./operators.ts";
import { prepareRegex } from "../regex/index.ts";
import { isRegExp } from "node:util/types";
import type { Node } from "../ast.ts";
import { NotCompiled, quote, type Code, type Kind } from "./code.ts";
import { lambdaScope } from "./frames.ts";
import { isBare } from "./grouping.ts";
import { closure, functionOf, positionOf, type Scope, temporary } from "./scope.ts";

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
function emitDirect(
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

/** Functions: calls, lambdas, partial application, `~>`, transforms. */

const part = (node: Node, name: string): Node => node[name] as Node;

const argumentsOf = (node: Node): readonly Node[] => node["arguments"] as readonly Node[];

const written = (args: readonly Node[], scope: Scope): string[] =>
  args.map((arg) => scope.unit.emit(arg, scope).js);

/** The name of the built-in function that is called, if it is certain which one is. */
function builtinOf(node: Node, scope: Scope): string | undefined {
  const procedure = part(node, "procedure");
  const isName = procedure.type === "variable" && isBare(procedure);
  return isName && procedure.value !== "" ? scope.frame.find(String(procedure.value)).builtin : undefined;
}

/** What is called. A field that has the name of a function is a function whose `$` was forgotten. */
function procedureOf(node: Node, scope: Scope, code: string): string {
  const procedure = part(node, "procedure");
  const builtin = builtinOf(node, scope);
  if (builtin !== undefined) return scope.frame.find(builtin).js;
  const { js } = scope.unit.emit(procedure, scope);
  if (procedure.type !== "path") return js;
  const name = (procedure["steps"] as readonly Node[])[0]?.value;
  const variable = typeof name === "string" && name !== "" ? scope.frame.find(name).js : "undefined";
  return `${scope.unit.use("forgotten")}(${js}, ${variable}, ${quote(code)}, ${positionOf(node, scope)})`;
}

/** Pictures of dates are the interpreter's, so functions on time are compiled where they are called without one. */
function refusePicture(name: string | undefined, given: number): void {
  if ((name === "toMillis" || name === "fromMillis") && given > 1)
    throw new NotCompiled(`$${name} formats by a picture`);
}

export function emitCall(node: Node, scope: Scope): Code {
  const { unit, context } = scope;
  const args = argumentsOf(node);
  const name = builtinOf(node, scope);
  refusePicture(name, args.length);
  const ordinary = (given: readonly string[]): string => {
    const called = procedureOf(node, scope, "T1005");
    return `${unit.use("call")}(${called}, [${given.join(", ")}], ${context}, ${positionOf(node, scope)})`;
  };
  const direct = name === undefined ? undefined : emitDirect(name, args, scope, ordinary);
  return direct ?? { js: ordinary(written(args, scope)), kind: "any" };
}

/** A call in the last place of a lambda waits until the lambda has returned. */
function emitTailCall(node: Node, scope: Scope): Code {
  const { unit } = scope;
  const args = argumentsOf(node);
  refusePicture(builtinOf(node, scope), args.length);
  const position = part(node, "procedure").position ?? 0;
  const call = functionOf(scope, [], (inner) => {
    const called =
      builtinOf(node, inner) === undefined
        ? unit.emit(part(node, "procedure"), inner).js
        : procedureOf(node, inner, "");
    const given = written(args, inner).join(", ");
    return `${unit.use("tailCall")}(${called}, [${given}], ${scope.caller}, ${scope.blame ?? position})`;
  });
  return { js: `${unit.use("later")}(${call})`, kind: "any" };
}

export function emitLambda(node: Node, scope: Scope): Code {
  if (node["thunk"] === true) return emitTailCall(part(node, "body"), scope);
  const { unit } = scope;
  const parameters = argumentsOf(node).map(({ value }) => String(value));
  const caller = unit.name("s");
  const names: string[] = [caller];
  const run = functionOf({ ...scope, caller, blame: undefined }, names, (inner) => {
    const lambda = lambdaScope(inner, parameters, part(node, "body"));
    names.push(...lambda.names);
    return unit.emit(part(node, "body"), lambda.scope).js;
  });
  return {
    js: `${unit.use("lambda")}(${run}, ${parameters.length}${signature(node, scope)})`,
    kind: "value",
  };
}

function signature(node: Node, scope: Scope): string {
  const taken = node["signature"] as { readonly validate?: unknown } | undefined;
  if (taken === undefined) return "";
  // The parser loses the check of a function on the left of ?: or ??.
  if (typeof taken.validate !== "function")
    throw new NotCompiled("a function with a signature on the left of ?: or ??");
  return `, ${scope.unit.constant(taken)}`;
}

export function emitPartial(node: Node, scope: Scope): Code {
  const { unit } = scope;
  const name = builtinOf(node, scope);
  if (name === "string" || name === "zip") throw new NotCompiled(`$${name} in a partial application`);
  refusePicture(name, 2);
  const args = argumentsOf(node).map((arg) =>
    arg.type === "operator" ? unit.use("HOLE") : unit.emit(arg, scope).js,
  );
  const called = procedureOf(node, scope, "T1007");
  return {
    js: `${unit.use("partial")}(${called}, [${args.join(", ")}], ${positionOf(node, scope)})`,
    kind: "any",
  };
}

export function emitApply(node: Node, scope: Scope): Code {
  const { unit, context } = scope;
  const right = part(node, "rhs");
  const left = unit.emit(part(node, "lhs"), scope).js;
  const position = positionOf(node, scope);
  if (right.type !== "function")
    return { js: `${unit.use("pipe")}(${left}, ${unit.emit(right, scope).js}, ${position})`, kind: "any" };
  const args = argumentsOf(right);
  refusePicture(builtinOf(right, scope), args.length + 1);
  const called = procedureOf(right, scope, "T1005");
  const given = `${left}, [${written(args, scope).join(", ")}], ${context}, ${positionOf(right, scope)}`;
  return { js: `${unit.use("callPiped")}(${called}, ${given})`, kind: "any" };
}

export function emitTransform(node: Node, scope: Scope): Code {
  const { unit } = scope;
  const removal = node["delete"] as Node | undefined;
  const on = (part: Node): string => closure(scope, (inner) => unit.emit(part, inner).js);
  const positions = [node.position, part(node, "update").position, removal?.position].map((at) => at ?? 0);
  const members = [
    `clone: ${scope.frame.find("clone").js}`,
    `pattern: ${on(part(node, "pattern"))}`,
    `update: ${on(part(node, "update"))}`,
    `remove: ${removal ? on(removal) : "undefined"}`,
    `positions: [${positions.join(", ")}]`,
  ];
  return { js: `${unit.use("transform")}({ ${members.join(", ")} })`, kind: "value" };
}
