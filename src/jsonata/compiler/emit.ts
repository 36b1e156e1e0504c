import { prepareRegex } from "../regex/index.ts";
import { isRegExp } from "node:util/types";
import { childrenOf, type AstNode } from "../ast.ts";
import { isScalar, NotCompilableError, type Code, quote } from "./code.ts";
import { emitArray, emitObject } from "./constructors.ts";
import { emitApply, emitCall, emitLambda, emitPartial, emitTransform } from "./functions.ts";
import { emitGrouping, groupingOf, isBare } from "./grouping.ts";
import { emitBinary, emitBind, emitBlock, emitCondition, emitNegation } from "./operators.ts";
import { emitPath } from "./paths.ts";
import { type Scope, positionOf } from "./scope.ts";
import { emitPredicates, keepsSingleton, emitNameStep } from "./steps.ts";

const emitString = (node: AstNode): Code => ({ js: quote(String(node.value)), kind: "string" });

function emitNumber(node: AstNode): Code {
  const value = Number(node.value);
  return { js: Object.is(value, -0) ? "-0" : `${value}`, kind: "scalar" };
}

/** Emits true, false or null. */
const emitConstant = (node: AstNode): Code => ({
  js: String(node.value),
  kind: typeof node.value === "boolean" ? "boolean" : "scalar",
});

function emitRegex(node: AstNode, scope: Scope): Code {
  // The parser damages a pattern on the left of ?: or ??.
  if (!isRegExp(node.value)) throw new NotCompilableError("a regular expression on the left of ?: or ??");
  const { unit } = scope;
  const js = `${unit.useHelper("createMatcher")}(${unit.addConstant(prepareRegex(node.value.source, node.value.flags))}, ${positionOf(node, scope)})`;
  return { js, kind: "value" };
}

function emitVariable(node: AstNode, scope: Scope): Code {
  const name = String(node.value);
  if (name !== "") {
    const variable = scope.frame.find(name);
    if (variable.builtin === "toMillis") throw new NotCompilableError(`$${name} as a value`);
    return variable;
  }
  if (scope.isSingle) return { js: scope.context, kind: "value" };
  return { js: `${scope.unit.useHelper("unwrapContext")}(${scope.context})`, kind: "any" };
}

/** Emits `%`. The step that it refers to binds its parent under a label of the parser. */
const emitParent = (node: AstNode, scope: Scope): Code =>
  scope.frame.find((node["slot"] as { readonly label: string }).label);

const emitWildcard = (_node: AstNode, { unit, context }: Scope): Code => ({
  js: `${unit.useHelper("listMemberValues")}(${context})`,
  kind: "any",
});

const emitDescendants = (_node: AstNode, { unit, context }: Scope): Code => ({
  js: `${unit.useHelper("listDescendants")}(${context})`,
  kind: "any",
});

type Emit = (node: AstNode, scope: Scope) => Code;

function emitUnary(node: AstNode, scope: Scope): Code {
  if (node.value === "[") return emitArray(node, scope);
  return node.value === "{" ? emitObject(node, scope) : emitNegation(node, scope);
}

/** One function per type of node. */
const EMITTERS: Readonly<Record<string, Emit>> = {
  string: emitString,
  number: emitNumber,
  value: emitConstant,
  regex: emitRegex,
  name: (node, scope) => ({ js: emitNameStep(node, scope), kind: "value" }),
  variable: emitVariable,
  parent: emitParent,
  wildcard: emitWildcard,
  descendant: emitDescendants,
  path: (node, scope) => emitPath(node, scope),
  unary: emitUnary,
  binary: emitBinary,
  condition: (node, scope) => emitCondition(node, scope),
  block: (node, scope) => emitBlock(node, scope),
  bind: emitBind,
  function: emitCall,
  lambda: emitLambda,
  partial: emitPartial,
  apply: emitApply,
  transform: emitTransform,
};

/**
 * Emits the code of a node with its suffix: predicates, grouping, `[]`.
 *
 * @throws {NotCompilableError} If the compiler does not support the node.
 */
export function emit(node: AstNode, scope: Scope): Code {
  const write = Object.hasOwn(EMITTERS, node.type) ? EMITTERS[node.type] : undefined;
  if (!write) throw new NotCompilableError(`a ${node.type}`);
  const code = write(node, scope);
  return node.type === "path" ? code : emitSuffix(node, code, scope);
}

function emitSuffix(node: AstNode, code: Code, scope: Scope): Code {
  const { unit } = scope;
  const found = node["predicate"] ? emitPredicates(code.js, node, scope) : code.js;
  const grouping = groupingOf(node);
  if (grouping) return emitGrouping(found, grouping, scope);
  if (code.kind !== "any" && !node["predicate"]) return code;
  return {
    js: `${unit.useHelper(node["keepArray"] ? "collapseKeepingList" : "collapse")}(${found})`,
    kind: "any",
  };
}

/**
 * Emits an expression whose value leaves the engine. Objects that it constructs are returned as they are; everything else
 * is copied.
 *
 * @param depth Number of blocks and conditions around it. Each of them collapses a sequence once more.
 */
export function emitResult(node: AstNode, scope: Scope, depth = 0): Code {
  const inner: Emit = (child, childScope) => emitResult(child, childScope, depth + 1);
  const whole: Emit = (child, childScope) => emitResult(child, childScope);
  const bare = isBare(node);
  if (bare && node.type === "condition") return emitCondition(node, scope, inner);
  if (bare && node.type === "block") return emitBlock(node, scope, inner);
  if (bare && node.type === "unary" && node.value === "{" && !scope.isGeneral)
    return emitObject(node, scope, whole);
  if (bare && node.type === "unary" && node.value === "[" && !node["consarray"])
    return emitArray(node, scope, emitMember);
  const code = emit(node, scope);
  if (isScalar(code)) return code;
  const collapses = code.kind === "any" ? depth : 0;
  const collapsed =
    `${scope.unit.useHelper("collapse")}(`.repeat(collapses) + code.js + ")".repeat(collapses);
  return { js: `${scope.unit.useHelper("copyPlain")}(${collapsed})`, kind: code.kind };
}

/** Emits a member of an array that leaves the engine. Objects that a path constructs need no copy. */
function emitMember(node: AstNode, scope: Scope): Code {
  const steps = node.type === "path" ? childrenOf(node, "steps") : [];
  const last = steps.at(-1);
  const isObject = last?.type === "unary" && last.value === "{" && isBare(last) && !last["stages"];
  const isPlain = isBare(node) && !keepsSingleton(node) && !steps.some((step) => step["tuple"]);
  const whole: Emit = (child, childScope) => emitResult(child, childScope);
  return isObject && isPlain ? emitPath(node, scope, whole) : emitResult(node, scope);
}
