import { emitTruth } from "./operators.ts";
import { childOf, childrenOf, type AstNode } from "../language/ast.ts";
import { NotCompilableError, type Code } from "./code.ts";
import { lambdaScope } from "./frames.ts";
import { isBare } from "./steps.ts";
import { emitFunction, type Scope, declareTemporary } from "./scope.ts";

/** Functions with one argument that are emitted inline. */
type Test = "exists" | "boolean" | "not";

const isTest = (name: string | undefined): name is Test =>
  name === "exists" || name === "boolean" || name === "not";

/** Emits an inline call of a {@link Test} function. */
function emitTest(name: Test, argument: AstNode, scope: Scope): Code {
  const code = scope.unit.emit(argument, scope);
  if (name === "exists") return { js: `(${code.js} !== undefined)`, kind: "boolean" };
  const not = name === "not" ? "!" : "";
  if (code.kind === "boolean") return { js: `(${not}${code.js})`, kind: "boolean" };
  const value = declareTemporary(scope);
  const truth = emitTruth({ js: value, kind: code.kind }, scope);
  return { js: `((${value} = ${code.js}) === undefined ? undefined : ${not}${truth})`, kind: "truth" };
}

/** Emits a function call. */
export function emitCall(node: AstNode, scope: Scope): Code {
  const { unit, context } = scope;
  const procedure = childOf(node, "procedure");
  if (procedure.type !== "variable" || !isBare(procedure) || procedure.value === "")
    throw new NotCompilableError("a call of something that is not a variable");
  const { js, builtin } = scope.frame.find(String(procedure.value));
  const args = childrenOf(node, "arguments");
  const [first] = args;
  if (isTest(builtin) && first && args.length === 1) return emitTest(builtin, first, scope);
  const helper = unit.useHelper(builtin === undefined ? "call" : "callBuiltin");
  const given = args.map((argument) => unit.emit(argument, scope).js).join(", ");
  return { js: `${helper}(${js}, [${given}], ${context})`, kind: "any" };
}

/** Emits the tail call of a function. The interpreter runs it after the function has returned, so that the stack does not grow. */
function emitTailCall(node: AstNode, scope: Scope): Code {
  const { type, value } = childOf(node, "procedure");
  if (type === "variable" && scope.frame.find(String(value)).isLocal === true)
    throw new NotCompilableError("a tail call of a function of the expression");
  // The result does not collapse, as in the interpreter.
  return { ...emitCall(node, scope), kind: "value" };
}

/** Emits `function($a, $b) { … }`. */
export function emitLambda(node: AstNode, scope: Scope): Code {
  if (node["signature"] !== undefined) throw new NotCompilableError("a function with a signature");
  if (node["thunk"] === true) return emitTailCall(childOf(node, "body"), scope);
  const names: string[] = [];
  const js = emitFunction(scope, names, (inner) => {
    const lambda = lambdaScope(inner, node);
    names.push(...lambda.names);
    return scope.unit.emit(childOf(node, "body"), lambda.scope).js;
  });
  return { js: `(${js})`, kind: "value" };
}
