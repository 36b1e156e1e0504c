import { childrenOf, pairsOf, walk, type AstNode, type Pairs } from "../ast.ts";
import { quote, type Code } from "./code.ts";
import { emitGrouping, isBare } from "./grouping.ts";
import { declareTemporary, type Scope } from "./scope.ts";

type Emit = (node: AstNode, scope: Scope) => Code;

/** Emits an array constructor `[ … ]`. @param emit Emits the members. */
export function emitArray(node: AstNode, scope: Scope, emit: Emit = scope.unit.emit): Code {
  const { unit } = scope;
  const members = childrenOf(node, "expressions");
  const array = members.reduce((into, member) => {
    const value = emit(member, scope).js;
    const isArray = member.type === "unary" && member.value === "[";
    return `${unit.useHelper(isArray ? "addWhole" : "addMembers")}(${into}, ${value})`;
  }, "[]");
  return { js: node["consarray"] ? `${unit.useHelper("markConstructed")}(${array})` : array, kind: "value" };
}

/** `__proto__`, and names that the interpreter uses internally. */
const SPECIAL = /^(__proto__$|_jsonata_)/;

/** Whether all keys are ordinary string literals and unique. Such an object never groups. */
export function hasPlainKeys(pairs: Pairs): boolean {
  const names = new Set(pairs.map(([key]) => key.value));
  if (names.size !== pairs.length) return false;
  return pairs.every(([key]) => key.type === "string" && !SPECIAL.test(String(key.value)) && isBare(key));
}

/** Emits an object with fixed keys for a single context. Members are set one by one, because undefined ones are omitted. */
function emitMembers(pairs: Pairs, scope: Scope, emit: Emit): string {
  const object = declareTemporary(scope);
  const members = pairs.map(([key, value]) => {
    const code = emit(value, scope);
    const target = `${object}[${quote(String(key.value))}]`;
    if (code.kind === "boolean" || code.kind === "string") return `${target} = ${code.js}`;
    const found = declareTemporary(scope);
    return `(${found} = ${code.js}) !== undefined && (${target} = ${found})`;
  });
  return `(${[`${object} = {}`, ...members, object].join(", ")})`;
}

/** Emits an object constructor `{ … }`. @param emit Emits the values of the members. */
export function emitObject(node: AstNode, scope: Scope, emit: Emit = scope.unit.emit): Code {
  const pairs = pairsOf(node);
  const isResult = emit !== scope.unit.emit;
  const general = (): string => {
    const grouped = emitGrouping(scope.context, node, scope).js;
    return isResult ? `${scope.unit.useHelper("copyPlain")}(${grouped})` : grouped;
  };
  if (scope.isGeneral || !hasPlainKeys(pairs)) return { js: general(), kind: "value" };
  if (scope.isSingle || !readsContext(pairs)) return { js: emitMembers(pairs, scope, emit), kind: "value" };
  const members = emitMembers(pairs, { ...scope, isSingle: true }, emit);
  return { js: `(Array.isArray(${scope.context}) ? ${general()} : ${members})`, kind: "value" };
}

/** Types of nodes whose value does not depend on the context, unless that of a child does. */
const CONTEXT_FREE = new Set(["string", "number", "value", "variable", "binary", "condition"]);

/** Whether an object depends on its context. One that does not never groups, even if the context is an array. */
export function readsContext(pairs: Pairs): boolean {
  let reads = false;
  walk(pairs, ({ type, value }) => {
    if (!CONTEXT_FREE.has(type) || (type === "variable" && value === "")) reads = true;
  });
  return reads;
}
