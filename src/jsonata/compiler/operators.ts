import { childOf, childrenOf, type AstNode } from "../language/ast.ts";
import { kindOfEither, NotCompilableError, type Code, type CodeKind } from "./code.ts";
import { emitInBlock } from "./frames.ts";
import type { Helper, Scope } from "./scope.ts";

/** A binary operator: its helper, and the kind of the result. */
const OPERATORS: Readonly<Record<string, readonly [Helper, CodeKind]>> = {
  "+": ["add", "value"],
  "-": ["subtract", "value"],
  "*": ["multiply", "value"],
  "/": ["divide", "value"],
  "%": ["remainder", "value"],
  "<": ["less", "truth"],
  "<=": ["lessOrEqual", "truth"],
  ">": ["greater", "truth"],
  ">=": ["greaterOrEqual", "truth"],
  "..": ["range", "any"],
  "&": ["joinText", "value"],
  "=": ["isEqual", "boolean"],
  "!=": ["isDifferent", "boolean"],
  in: ["isMember", "boolean"],
};

/** Emits a condition: JavaScript code that is true if JSONata would treat the value as true. */
export function emitTruth(code: Code, scope: Scope): string {
  return code.kind === "boolean" || code.kind === "truth"
    ? code.js
    : `${scope.unit.useHelper("isTruthy")}(${code.js})`;
}

/** Emits a condition whose value is a boolean. */
function emitBoolean(code: Code, scope: Scope): string {
  return code.kind === "truth" ? `(${code.js} === true)` : emitTruth(code, scope);
}

/** Emits a binary operator. @throws {NotCompilableError} If the operator is unknown. */
export function emitBinary(node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const operator = String(node.value);
  if (operator === "and" || operator === "or") return emitLogic(node, scope);
  const [helper, kind] = OPERATORS[operator] ?? rejectOperator(operator);
  const left = unit.emit(childOf(node, "lhs"), scope).js;
  const right = unit.emit(childOf(node, "rhs"), scope).js;
  return { js: `${unit.useHelper(helper)}(${left}, ${right})`, kind };
}

function rejectOperator(operator: string): never {
  throw new NotCompilableError(`the operator ${operator}`);
}

/** Emits `and` or `or`. */
function emitLogic(node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const [left, right] = ["lhs", "rhs"].map((side) =>
    emitBoolean(unit.emit(childOf(node, side), scope), scope),
  );
  return { js: `(${left} ${node.value === "and" ? "&&" : "||"} ${right})`, kind: "boolean" };
}

/** Emits the unary minus. */
export function emitNegation(node: AstNode, scope: Scope): Code {
  const value = scope.unit.emit(childOf(node, "expression"), scope).js;
  return { js: `${scope.unit.useHelper("negate")}(${value})`, kind: "value" };
}

const MISSING: Code = { js: "undefined", kind: "value" };

/** Emits `a ? b : c`. */
export function emitCondition(node: AstNode, scope: Scope): Code {
  const { emit } = scope.unit;
  const condition = emitTruth(emit(childOf(node, "condition"), scope), scope);
  const then = emit(childOf(node, "then"), scope);
  const otherwise = node["else"] === undefined ? MISSING : emit(childOf(node, "else"), scope);
  return {
    js: `(${condition} ? ${then.js} : ${otherwise.js})`,
    kind: kindOfEither(then.kind, otherwise.kind),
  };
}

/** Emits a block `( … ; … )`. Its value is the value of the last expression. */
export function emitBlock(node: AstNode, scope: Scope): Code {
  const expressions = childrenOf(node, "expressions");
  if (expressions.length === 0) return MISSING;
  const codes = emitInBlock(expressions, scope);
  const last = codes.at(-1) as Code;
  if (codes.length === 1) return last;
  return { js: `(${codes.map(({ js }) => js).join(", ")})`, kind: last.kind };
}
