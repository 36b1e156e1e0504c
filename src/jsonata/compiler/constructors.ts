import { childrenOf, pairsOf, walk, type AstNode, type Pairs } from "../ast.ts";
import { NotCompilableError, quote, type Code } from "./code.ts";
import { emitGrouping, isBare } from "./grouping.ts";
import { declareTemporary, type Scope } from "./scope.ts";

/** Emits an array constructor `[ … ]`. */
export function emitArray(node: AstNode, scope: Scope): Code {
  if (node["consarray"])
    throw new NotCompilableError("an array constructor at the start or the end of a path");
  const { unit } = scope;
  const members = childrenOf(node, "expressions");
  const array = members.reduce((into, member) => {
    const value = unit.emit(member, scope).js;
    const isArray = member.type === "unary" && member.value === "[";
    return `${unit.useHelper(isArray ? "addWhole" : "addMembers")}(${into}, ${value})`;
  }, "[]");
  return { js: array, kind: "value" };
}

/** `__proto__`, and names that the interpreter uses internally. */
const SPECIAL = /^(__proto__$|_jsonata_)/;

/** Whether all keys are ordinary string literals and unique. Such an object never groups. */
function hasPlainKeys(pairs: Pairs): boolean {
  const names = new Set(pairs.map(([key]) => key.value));
  if (names.size !== pairs.length) return false;
  return pairs.every(([key]) => key.type === "string" && !SPECIAL.test(String(key.value)) && isBare(key));
}

/** Emits an object with fixed keys for a single context. Members are set one by one, because undefined ones are omitted. */
function emitMembers(pairs: Pairs, scope: Scope): string {
  const object = declareTemporary(scope);
  const members = pairs.map(([key, value]) => {
    const code = scope.unit.emit(value, scope);
    const target = `${object}[${quote(String(key.value))}]`;
    if (code.kind === "boolean" || code.kind === "string") return `${target} = ${code.js}`;
    const found = declareTemporary(scope);
    return `(${found} = ${code.js}) !== undefined && (${target} = ${found})`;
  });
  return `(${[`${object} = {}`, ...members, object].join(", ")})`;
}

/** Emits an object constructor `{ … }`. */
export function emitObject(node: AstNode, scope: Scope): Code {
  const pairs = pairsOf(node);
  if (scope.isGeneral || !hasPlainKeys(pairs)) return emitGrouping(scope.context, node, scope);
  if (scope.isSingle || !readsContext(pairs)) return { js: emitMembers(pairs, scope), kind: "value" };
  const members = emitMembers(pairs, { ...scope, isSingle: true });
  const grouped = emitGrouping(scope.context, node, scope).js;
  return { js: `(Array.isArray(${scope.context}) ? ${grouped} : ${members})`, kind: "value" };
}

/** Types of nodes whose value does not depend on the context, unless that of a child does. */
const CONTEXT_FREE = new Set(["string", "number", "value", "variable", "binary", "condition"]);

/** Whether an object depends on its context. One that does not never groups, even if the context is an array. */
function readsContext(pairs: Pairs): boolean {
  let reads = false;
  walk(pairs, ({ type, value }) => {
    if (!CONTEXT_FREE.has(type) || (type === "variable" && value === "")) reads = true;
  });
  return reads;
}
