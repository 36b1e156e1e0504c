import { emitTruth } from "./operators.ts";
import { prepareRegex } from "../regex/index.ts";
import { isRegExp } from "node:util/types";
import { childOf, childrenOf, findChild, type AstNode } from "../ast.ts";
import { NotCompilableError, quote, type Code, type CodeKind } from "./code.ts";
import { lambdaScope } from "./frames.ts";
import { isBare } from "./grouping.ts";
import { emitClosure, emitFunction, positionOf, type Scope, declareTemporary } from "./scope.ts";

/** A built-in function that is emitted inline for arguments of the usual type. All others go through the ordinary call. */
interface DirectCall {
  readonly takes: "number" | "string";
  readonly js: (argument: string) => string;
  readonly kind: CodeKind;
}

const callMethod = (name: string): DirectCall => ({
  takes: "string",
  js: (text) => `${text}.${name}()`,
  kind: "scalar",
});

const callMath = (name: string): DirectCall => ({
  takes: "number",
  js: (value) => `Math.${name}(${value})`,
  kind: "scalar",
});

const DIRECT_CALLS: Readonly<Record<string, DirectCall>> = {
  floor: callMath("floor"),
  lowercase: callMethod("toLowerCase"),
  uppercase: callMethod("toUpperCase"),
  string: { takes: "string", js: (text) => text, kind: "scalar" },
  number: { takes: "number", js: (value) => value, kind: "scalar" },
};

/** Emits the ordinary call with these arguments. */
type EmitOrdinaryCall = (args: readonly string[]) => string;

/** Emits the inline form of a call; returns undefined if there is none. */
function emitDirect(
  name: string,
  args: readonly AstNode[],
  scope: Scope,
  otherwise: EmitOrdinaryCall,
): Code | undefined {
  const [first, second] = args;
  if (first === undefined) return undefined;
  if (name === "contains" && second && args.length === 2)
    return emitContains(first, second, scope, otherwise);
  if (name === "replace" && second) return emitReplace(args, scope, otherwise);
  if (args.length > 1) return undefined;
  if (name === "exists" || name === "boolean" || name === "not") return emitTest(name, first, scope);
  const direct = Object.hasOwn(DIRECT_CALLS, name) ? DIRECT_CALLS[name] : undefined;
  if (!direct) return undefined;
  const value = declareTemporary(scope);
  const is = `typeof (${value} = ${scope.unit.emit(first, scope).js}) === "${direct.takes}"`;
  const js = `(${is} ? ${direct.js(value)} : ${value} === undefined ? undefined : ${otherwise([value])})`;
  return { js, kind: direct.kind };
}

function emitTest(name: "exists" | "boolean" | "not", argument: AstNode, scope: Scope): Code {
  const code = scope.unit.emit(argument, scope);
  if (name === "exists") return { js: `(${code.js} !== undefined)`, kind: "boolean" };
  const not = name === "not" ? "!" : "";
  if (code.kind === "boolean") return { js: `(${not}${code.js})`, kind: "boolean" };
  const value = declareTemporary(scope);
  const truth = emitTruth({ js: value, kind: code.kind }, scope);
  return { js: `((${value} = ${code.js}) === undefined ? undefined : ${not}${truth})`, kind: "truth" };
}

function emitContains(
  text: AstNode,
  token: AstNode,
  scope: Scope,
  otherwise: EmitOrdinaryCall,
): Code | undefined {
  const { unit } = scope;
  const value = declareTemporary(scope);
  const is = `typeof (${value} = ${unit.emit(text, scope).js}) === "string"`;
  if (token.type === "regex" && isRegExp(token.value) && !token["predicate"]) {
    const { source, flags } = token.value;
    const found = `${unit.useHelper("testPattern")}(${value}, ${unit.addConstant(prepareRegex(source, flags)())})`;
    return { js: `(${is} ? ${found} : ${otherwise([value, unit.emit(token, scope).js])})`, kind: "truth" };
  }
  if (token.type !== "string" || token["predicate"]) return undefined;
  const wanted = unit.emit(token, scope).js;
  return { js: `(${is} ? ${value}.includes(${wanted}) : ${otherwise([value, wanted])})`, kind: "truth" };
}

/** Emits `$replace(text, "literal", "literal")`. */
function emitReplace(args: readonly AstNode[], scope: Scope, otherwise: EmitOrdinaryCall): Code | undefined {
  const { unit } = scope;
  const [text, token, replacement] = args;
  if (!text || args.length !== 3 || !isLiteral(token) || !isLiteral(replacement)) return undefined;
  if (token.value === "") return undefined;
  const value = declareTemporary(scope);
  const [from, to] = [quote(token.value), quote(replacement.value)];
  const is = `typeof (${value} = ${unit.emit(text, scope).js}) === "string"`;
  const replaced = `${unit.useHelper("replaceText")}(${value}, ${from}, ${to})`;
  return { js: `(${is} ? ${replaced} : ${otherwise([value, from, to])})`, kind: "any" };
}

const isLiteral = (node: AstNode | undefined): node is AstNode & { readonly value: string } =>
  node?.type === "string" && node["predicate"] === undefined;

const argumentsOf = (node: AstNode): readonly AstNode[] => childrenOf(node, "arguments");

const emitArguments = (args: readonly AstNode[], scope: Scope): string[] =>
  args.map((arg) => scope.unit.emit(arg, scope).js);

/** Returns the name of the built-in function that is called; undefined if it may be another function. */
function builtinOf(node: AstNode, scope: Scope): string | undefined {
  const procedure = childOf(node, "procedure");
  const isName = procedure.type === "variable" && isBare(procedure);
  return isName && procedure.value !== "" ? scope.frame.find(String(procedure.value)).builtin : undefined;
}

/** Emits the function that is called. If a field has the name of a function, its `$` is probably missing: an error. */
function emitProcedure(node: AstNode, scope: Scope, code: string): string {
  const procedure = childOf(node, "procedure");
  const builtin = builtinOf(node, scope);
  if (builtin !== undefined) return scope.frame.find(builtin).js;
  const { js } = scope.unit.emit(procedure, scope);
  if (procedure.type !== "path") return js;
  const name = childrenOf(procedure, "steps")[0]?.value;
  const variable = typeof name === "string" && name !== "" ? scope.frame.find(name).js : "undefined";
  return `${scope.unit.useHelper("rejectForgottenDollar")}(${js}, ${variable}, ${quote(code)}, ${positionOf(node, scope)})`;
}

/** Emits a function call. */
export function emitCall(node: AstNode, scope: Scope): Code {
  const { unit, context } = scope;
  const args = argumentsOf(node);
  const name = builtinOf(node, scope);
  const ordinary = (given: readonly string[]): string => {
    const called = emitProcedure(node, scope, "T1005");
    return `${unit.useHelper("call")}(${called}, [${given.join(", ")}], ${context}, ${positionOf(node, scope)})`;
  };
  const direct = name === undefined ? undefined : emitDirect(name, args, scope, ordinary);
  return direct ?? { js: ordinary(emitArguments(args, scope)), kind: "any" };
}

/** Emits a tail call of a lambda. It runs after the lambda has returned, so that the stack does not grow. */
function emitTailCall(node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const args = argumentsOf(node);
  const position = childOf(node, "procedure").position ?? 0;
  const call = emitFunction(scope, [], (inner) => {
    const called =
      builtinOf(node, inner) === undefined
        ? unit.emit(childOf(node, "procedure"), inner).js
        : emitProcedure(node, inner, "");
    const given = emitArguments(args, inner).join(", ");
    return `${unit.useHelper("callInTailPosition")}(${called}, [${given}], ${scope.callerContext}, ${scope.errorPosition ?? position})`;
  });
  return { js: `${unit.useHelper("deferCall")}(${call})`, kind: "any" };
}

/** Emits `function($a, $b) { … }`. */
export function emitLambda(node: AstNode, scope: Scope): Code {
  if (node["thunk"] === true) return emitTailCall(childOf(node, "body"), scope);
  const { unit } = scope;
  const parameters = argumentsOf(node).map(({ value }) => String(value));
  const caller = unit.createName("s");
  const names: string[] = [caller];
  const run = emitFunction({ ...scope, callerContext: caller, errorPosition: undefined }, names, (inner) => {
    const lambda = lambdaScope(inner, parameters, childOf(node, "body"));
    names.push(...lambda.names);
    return unit.emit(childOf(node, "body"), lambda.scope).js;
  });
  return {
    js: `${unit.useHelper("createLambda")}(${run}, ${parameters.length}${emitSignature(node, scope)})`,
    kind: "value",
  };
}

function emitSignature(node: AstNode, scope: Scope): string {
  const taken = node["signature"] as { readonly validate?: unknown } | undefined;
  if (taken === undefined) return "";
  // The parser loses the validation of a signature on the left of ?: or ??.
  if (typeof taken.validate !== "function")
    throw new NotCompilableError("a function with a signature on the left of ?: or ??");
  return `, ${scope.unit.addConstant(taken)}`;
}

/** Emits a partial application `$f(x, ?)`. */
export function emitPartial(node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const name = builtinOf(node, scope);
  if (name === "string" || name === "zip") throw new NotCompilableError(`$${name} in a partial application`);
  const given = argumentsOf(node);
  const args = given.map((arg) =>
    arg.type === "operator" ? unit.useHelper("PLACEHOLDER") : unit.emit(arg, scope).js,
  );
  const called = emitProcedure(node, scope, "T1007");
  return {
    js: `${unit.useHelper("applyPartially")}(${called}, [${args.join(", ")}], ${positionOf(node, scope)})`,
    kind: "any",
  };
}

/** Emits the chain operator `x ~> $f(y)`. */
export function emitApply(node: AstNode, scope: Scope): Code {
  const { unit, context } = scope;
  const right = childOf(node, "rhs");
  const left = unit.emit(childOf(node, "lhs"), scope).js;
  const position = positionOf(node, scope);
  if (right.type !== "function")
    return {
      js: `${unit.useHelper("pipe")}(${left}, ${unit.emit(right, scope).js}, ${position})`,
      kind: "any",
    };
  const args = argumentsOf(right);
  const called = emitProcedure(right, scope, "T1005");
  const given = `${left}, [${emitArguments(args, scope).join(", ")}], ${context}, ${positionOf(right, scope)}`;
  return { js: `${unit.useHelper("callPiped")}(${called}, ${given})`, kind: "any" };
}

/** Emits a transform `|pattern|update, delete|`. */
export function emitTransform(node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const removal = findChild(node, "delete");
  const on = (part: AstNode): string => emitClosure(scope, (inner) => unit.emit(part, inner).js);
  const positions = [node.position, childOf(node, "update").position, removal?.position].map((at) => at ?? 0);
  const members = [
    `clone: ${scope.frame.find("clone").js}`,
    `pattern: ${on(childOf(node, "pattern"))}`,
    `update: ${on(childOf(node, "update"))}`,
    `remove: ${removal ? on(removal) : "undefined"}`,
    `positions: [${positions.join(", ")}]`,
  ];
  return { js: `${unit.useHelper("createTransform")}({ ${members.join(", ")} })`, kind: "value" };
}
