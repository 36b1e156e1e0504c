import { emitTruth } from "./operators.ts";
import { prepareRegex } from "../regex/index.ts";
import { isRegExp } from "node:util/types";
import { childOf, childrenOf, type AstNode } from "../language/ast.ts";
import { NotCompilableError, quote, type Code } from "./code.ts";
import { lambdaScope } from "./frames.ts";
import { isBare } from "./steps.ts";
import { emitFunction, positionOf, type Scope, declareTemporary } from "./scope.ts";

/** Emits the ordinary call with these arguments. */
type EmitOrdinaryCall = (args: readonly string[]) => string;

/** Emits the inline form of a call. Returns undefined if there is none. */
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
  if (args.length === 1 && (name === "exists" || name === "boolean" || name === "not"))
    return emitTest(name, first, scope);
  return undefined;
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

/** Emits a function call. */
export function emitCall(node: AstNode, scope: Scope): Code {
  const { unit, context } = scope;
  const procedure = childOf(node, "procedure");
  if (procedure.type !== "variable" || !isBare(procedure) || procedure.value === "")
    throw new NotCompilableError("a call of something that is not a variable");
  const { js, builtin } = scope.frame.find(String(procedure.value));
  const args = argumentsOf(node);
  const helper = unit.useHelper(builtin === undefined ? "call" : "callBuiltin");
  const ordinary = (given: readonly string[]): string =>
    `${helper}(${js}, [${given.join(", ")}], ${context}, ${positionOf(node, scope)})`;
  const direct = builtin === undefined ? undefined : emitDirect(builtin, args, scope, ordinary);
  return direct ?? { js: ordinary(args.map((arg) => unit.emit(arg, scope).js)), kind: "any" };
}

/** Emits the tail call of a function. The interpreter runs it after the function has returned, so that the stack does not grow. */
function emitTailCall(node: AstNode, scope: Scope): Code {
  const { type, value } = childOf(node, "procedure");
  if (type === "variable" && scope.frame.find(String(value)).isLocal === true)
    throw new NotCompilableError("a tail call of a function of the expression");
  // Its result does not collapse, as in the interpreter.
  return { ...emitCall(node, scope), kind: "value" };
}

/** Emits `function($a, $b) { … }`. */
export function emitLambda(node: AstNode, scope: Scope): Code {
  if (node["signature"] !== undefined) throw new NotCompilableError("a function with a signature");
  if (node["thunk"] === true) return emitTailCall(childOf(node, "body"), scope);
  const names: string[] = [];
  const js = emitFunction({ ...scope, errorPosition: undefined }, names, (inner) => {
    const lambda = lambdaScope(inner, node);
    names.push(...lambda.names);
    return scope.unit.emit(childOf(node, "body"), lambda.scope).js;
  });
  return { js: `(${js})`, kind: "value" };
}
