import { childrenOf, pairsOf, walk, type AstNode, type Pairs } from "../language/ast.ts";
import { NotCompilableError, quote, type Code } from "./code.ts";
import { declareTemporary, emitClosure, type Scope } from "./scope.ts";
import { isBare } from "./steps.ts";

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

/** Matches `__proto__`, and names that the interpreter uses internally. */
const SPECIAL = /^(__proto__$|_jsonata_)/;

/** Whether all keys are ordinary string literals and unique. */
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
    if (code.kind === "boolean") return `${target} = ${code.js}`;
    const found = declareTemporary(scope);
    return `(${found} = ${code.js}) !== undefined && (${target} = ${found})`;
  });
  return `(${[`${object} = {}`, ...members, object].join(", ")})`;
}

/**
 * Emits an object constructor `{ … }`. A list as its context is one group, because its keys are texts.
 *
 * @throws {NotCompilableError} If a key is computed, duplicate, or has a special meaning.
 */
export function emitObject(node: AstNode, scope: Scope): Code {
  const pairs = pairsOf(node);
  if (!hasPlainKeys(pairs))
    throw new NotCompilableError("an object with a computed key, or with one key twice");
  if (!readsContext(pairs)) return { js: emitMembers(pairs, scope), kind: "value" };
  const write = emitClosure(scope, (inner) => emitMembers(pairs, inner));
  return { js: `(${write})(${scope.unit.useHelper("groupOf")}(${scope.context}))`, kind: "value" };
}

/** Types of nodes whose value does not depend on the context, unless a child's value does. */
const CONTEXT_FREE = new Set(["string", "number", "value", "variable", "binary", "condition"]);

/** Whether the value of an object constructor depends on the context. */
function readsContext(pairs: Pairs): boolean {
  let reads = false;
  walk(pairs, ({ type, value }) => {
    if (!CONTEXT_FREE.has(type) || (type === "variable" && value === "")) reads = true;
  });
  return reads;
}
