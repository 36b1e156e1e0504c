import { walk, type Node } from "../ast.ts";
import { quote, type Code } from "./code.ts";
import { emitGrouping, isBare, type Pairs } from "./grouping.ts";
import { temporary, type Scope } from "./scope.ts";

/** `[ ]` and `{ }`. */
type Emit = (node: Node, scope: Scope) => Code;

/** `emit` writes the members. */
export function emitArray(node: Node, scope: Scope, emit: Emit = scope.unit.emit): Code {
  const { unit } = scope;
  const members = node["expressions"] as readonly Node[];
  const array = members.reduce((into, member) => {
    const value = emit(member, scope).js;
    const whole = member.type === "unary" && member.value === "[";
    return `${unit.use(whole ? "collectWhole" : "collect")}(${into}, ${value})`;
  }, "[]");
  return { js: node["consarray"] ? `${unit.use("cons")}(${array})` : array, kind: "value" };
}

/** The name of `__proto__`, and names that the interpreter keeps for itself. */
const SPECIAL = /^(__proto__$|_jsonata_)/;

/** Names known beforehand, each once, with nothing special about them: no grouping can come of them. */
export function hasPlainKeys(pairs: Pairs): boolean {
  const names = new Set(pairs.map(([key]) => key.value));
  if (names.size !== pairs.length) return false;
  return pairs.every(([key]) => key.type === "string" && !SPECIAL.test(String(key.value)) && isBare(key));
}

/** The form for one context and keys known beforehand. Members are set one by one, since missing ones are left out. */
function emitMembers(pairs: Pairs, scope: Scope, emit: Emit): string {
  const object = temporary(scope);
  const members = pairs.map(([key, value]) => {
    const code = emit(value, scope);
    const target = `${object}[${quote(String(key.value))}]`;
    if (code.kind === "boolean" || code.kind === "string") return `${target} = ${code.js}`;
    const found = temporary(scope);
    return `(${found} = ${code.js}) !== undefined && (${target} = ${found})`;
  });
  return `(${[`${object} = {}`, ...members, object].join(", ")})`;
}

/** `emit` writes the values of the members. */
export function emitObject(node: Node, scope: Scope, emit: Emit = scope.unit.emit): Code {
  const pairs = node["lhs"] as Pairs;
  const isResult = emit !== scope.unit.emit;
  const general = (): string => {
    const grouped = emitGrouping(scope.context, node, scope).js;
    return isResult ? `${scope.unit.use("plain")}(${grouped})` : grouped;
  };
  if (scope.general || !hasPlainKeys(pairs)) return { js: general(), kind: "value" };
  if (scope.single || !readsContext(pairs)) return { js: emitMembers(pairs, scope, emit), kind: "value" };
  const members = emitMembers(pairs, { ...scope, single: true }, emit);
  return { js: `(Array.isArray(${scope.context}) ? ${general()} : ${members})`, kind: "value" };
}

/** Kinds of nodes whose value is the same in every context, when it is so for their parts. */
const CONTEXT_FREE = new Set(["string", "number", "value", "variable", "binary", "condition"]);

/** An object that its context has no part in needs no grouping, even if the context is an array. */
export function readsContext(pairs: Pairs): boolean {
  let reads = false;
  walk(pairs, ({ type, value }) => {
    if (!CONTEXT_FREE.has(type) || (type === "variable" && value === "")) reads = true;
  });
  return reads;
}
