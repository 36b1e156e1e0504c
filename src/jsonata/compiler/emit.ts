import { prepareRegex } from "../regex/index.ts";
import { isRegExp } from "node:util/types";
import type { AstNode } from "../language/ast.ts";
import { NotCompilableError, type Code, quote } from "./code.ts";
import { emitArray, emitObject } from "./constructors.ts";
import { emitCall, emitLambda } from "./functions.ts";
import { emitBinary, emitBlock, emitCondition, emitNegation } from "./operators.ts";
import { emitPath } from "./paths.ts";
import type { Scope } from "./scope.ts";
import { emitPredicates, emitNameStep } from "./steps.ts";

const emitString = (node: AstNode): Code => ({ js: quote(String(node.value)), kind: "value" });

function emitNumber(node: AstNode): Code {
  const value = Number(node.value);
  return { js: Object.is(value, -0) ? "-0" : `${value}`, kind: "value" };
}

/** Emits true, false or null. */
const emitConstant = (node: AstNode): Code => ({
  js: String(node.value),
  kind: typeof node.value === "boolean" ? "boolean" : "value",
});

function emitRegex(node: AstNode, scope: Scope): Code {
  // The parser damages a pattern on the left of ?: or ??.
  if (!isRegExp(node.value)) throw new NotCompilableError("a regular expression on the left of ?: or ??");
  const { unit } = scope;
  const js = `${unit.useHelper("createMatcher")}(${unit.addConstant(prepareRegex(node.value.source, node.value.flags))})`;
  return { js, kind: "value" };
}

function emitVariable(node: AstNode, scope: Scope): Code {
  const name = String(node.value);
  if (name !== "") {
    const variable = scope.frame.find(name);
    if (variable.builtin !== undefined) throw new NotCompilableError("a built-in function as a value");
    return variable;
  }
  return { js: `${scope.unit.useHelper("unwrapContext")}(${scope.context})`, kind: "any" };
}

type Emit = (node: AstNode, scope: Scope) => Code;

function emitUnary(node: AstNode, scope: Scope): Code {
  if (node.value === "[") return emitArray(node, scope);
  return node.value === "{" ? emitObject(node, scope) : emitNegation(node, scope);
}

/** Constructs that no pack uses are left to the interpreter. */
const NOT_EMITTED: Readonly<Record<string, string>> = {
  apply: "the operator ~>",
  bind: "a variable that is bound inside an expression",
  descendant: "the operator **",
  parent: "the operator %",
  partial: "a partial application",
  transform: "a transform",
  wildcard: "the operator *",
};

/** The functions that emit nodes, one for each type. */
const EMITTERS: Readonly<Record<string, Emit>> = {
  string: emitString,
  number: emitNumber,
  value: emitConstant,
  regex: emitRegex,
  name: (node, scope) => ({ js: emitNameStep(node, scope), kind: "value" }),
  variable: emitVariable,
  path: emitPath,
  unary: emitUnary,
  binary: emitBinary,
  condition: emitCondition,
  block: emitBlock,
  function: emitCall,
  lambda: emitLambda,
};

const hasGrouping = ({ group }: AstNode): boolean => group !== undefined;

/**
 * Emits the code of a node with its suffix: predicates, grouping, `[]`.
 *
 * @throws {NotCompilableError} If the compiler does not support the node.
 */
export function emit(node: AstNode, scope: Scope): Code {
  const write = Object.hasOwn(EMITTERS, node.type) ? EMITTERS[node.type] : undefined;
  if (!write) throw new NotCompilableError(NOT_EMITTED[node.type] ?? `a ${node.type}`);
  if (hasGrouping(node)) throw new NotCompilableError("a grouping after a path");
  const code = write(node, scope);
  return node.type === "path" ? code : emitSuffix(node, code, scope);
}

function emitSuffix(node: AstNode, code: Code, scope: Scope): Code {
  const { unit } = scope;
  const found = node["predicate"] ? emitPredicates(code.js, node, scope) : code.js;
  if (code.kind !== "any" && !node["predicate"]) return code;
  return {
    js: `${unit.useHelper(node["keepArray"] ? "collapseKeepingList" : "collapse")}(${found})`,
    kind: "any",
  };
}
