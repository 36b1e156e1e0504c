import { prepareRegex } from "../regex/index.ts";
import { isRegExp } from "node:util/types";
import type { Node } from "../ast.ts";
import { isScalar, NotCompiled, type Code, quote } from "./code.ts";
import { emitArray, emitObject } from "./constructors.ts";
import { emitApply, emitCall, emitLambda, emitPartial, emitTransform } from "./functions.ts";
import { emitGrouping, groupingOf, isBare } from "./grouping.ts";
import { emitBinary, emitBind, emitBlock, emitCondition, emitNegation } from "./operators.ts";
import { emitPath } from "./paths.ts";
import { type Scope, positionOf } from "./scope.ts";
import { filtered, keepsOne, nameIn } from "./steps.ts";

/** Literals, variables, and what stands for a whole set of things. */

const emitString = (node: Node): Code => ({ js: quote(node.value as string), kind: "string" });

function emitNumber(node: Node): Code {
  const value = node.value as number;
  return { js: Object.is(value, -0) ? "-0" : `${value}`, kind: "scalar" };
}

/** true, false and null. */
const emitConstant = (node: Node): Code => ({
  js: String(node.value),
  kind: typeof node.value === "boolean" ? "boolean" : "scalar",
});

function emitRegex(node: Node, scope: Scope): Code {
  // A pattern on the left of ?: or ?? comes out of the parser broken.
  if (!isRegExp(node.value)) throw new NotCompiled("a regular expression on the left of ?: or ??");
  const { unit } = scope;
  const js = `${unit.use("matcher")}(${unit.constant(prepareRegex(node.value.source, node.value.flags))}, ${positionOf(node, scope)})`;
  return { js, kind: "value" };
}

function emitVariable(node: Node, scope: Scope): Code {
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
const emitParent = (node: Node, scope: Scope): Code =>
  scope.frame.find((node["slot"] as { readonly label: string }).label);

const emitWildcard = (_node: Node, { unit, context }: Scope): Code => ({
  js: `${unit.use("wildcard")}(${context})`,
  kind: "any",
});

const emitDescendants = (_node: Node, { unit, context }: Scope): Code => ({
  js: `${unit.use("descendants")}(${context})`,
  kind: "any",
});

type Emit = (node: Node, scope: Scope) => Code;

function emitUnary(node: Node, scope: Scope): Code {
  if (node.value === "[") return emitArray(node, scope);
  return node.value === "{" ? emitObject(node, scope) : emitNegation(node, scope);
}

/** One function per kind of node. */
const EMIT: Readonly<Record<string, Emit>> = {
  string: emitString,
  number: emitNumber,
  value: emitConstant,
  regex: emitRegex,
  name: (node, scope) => ({ js: nameIn(node, scope), kind: "value" }),
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

/** The code of a node, with what stands behind it: predicates, grouping, `[]`. @throws {NotCompiled} */
export function emit(node: Node, scope: Scope): Code {
  const write = Object.hasOwn(EMIT, node.type) ? EMIT[node.type] : undefined;
  if (!write) throw new NotCompiled(`a ${node.type}`);
  const code = write(node, scope);
  return node.type === "path" ? code : ended(node, code, scope);
}

function ended(node: Node, code: Code, scope: Scope): Code {
  const { unit } = scope;
  const found = node["predicate"] ? filtered(code.js, node, scope) : code.js;
  const grouping = groupingOf(node);
  if (grouping) return emitGrouping(found, grouping, scope);
  if (code.kind !== "any" && !node["predicate"]) return code;
  return { js: `${unit.use(node["keepArray"] ? "collapseKept" : "collapse")}(${found})`, kind: "any" };
}

/**
 * The code of an expression whose value leaves the engine: objects are built to be kept, all else is copied.
 * `depth` counts the blocks and conditions around it, each of which lets a sequence collapse once more.
 */
export function emitResult(node: Node, scope: Scope, depth = 0): Code {
  const inner: Emit = (part, place) => emitResult(part, place, depth + 1);
  const whole: Emit = (part, place) => emitResult(part, place);
  const bare = isBare(node);
  if (bare && node.type === "condition") return emitCondition(node, scope, inner);
  if (bare && node.type === "block") return emitBlock(node, scope, inner);
  if (bare && node.type === "unary" && node.value === "{" && !scope.general)
    return emitObject(node, scope, whole);
  if (bare && node.type === "unary" && node.value === "[" && !node["consarray"])
    return emitArray(node, scope, emitMember);
  const code = emit(node, scope);
  if (isScalar(code)) return code;
  const collapses = code.kind === "any" ? depth : 0;
  const collapsed = `${scope.unit.use("collapse")}(`.repeat(collapses) + code.js + ")".repeat(collapses);
  return { js: `${scope.unit.use("plain")}(${collapsed})`, kind: code.kind };
}

/** The same for a member of an array: objects found by a path are taken out of the list that it found. */
function emitMember(node: Node, scope: Scope): Code {
  const steps = (node.type === "path" ? node["steps"] : []) as readonly Node[];
  const last = steps.at(-1);
  const isObject = last?.type === "unary" && last.value === "{" && isBare(last) && !last["stages"];
  const isPlain = isBare(node) && !keepsOne(node) && !steps.some((step) => step["tuple"]);
  const whole: Emit = (part, place) => emitResult(part, place);
  return isObject && isPlain ? emitPath(node, scope, whole) : emitResult(node, scope);
}
