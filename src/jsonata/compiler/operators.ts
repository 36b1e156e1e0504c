import { childOf, childrenOf, type AstNode } from "../language/ast.ts";
import { kindOfEither, NotCompilableError, type Code, type CodeKind } from "./code.ts";
import { emitInBlock } from "./frames.ts";
import { positionOf, type Helper, type Scope } from "./scope.ts";

/** A binary operator: its helper, the kind of the result, and whether the helper requires a position for errors. */
const OPERATORS: Readonly<Record<string, readonly [Helper, CodeKind, boolean]>> = {
  "+": ["add", "value", true],
  "-": ["subtract", "value", true],
  "*": ["multiply", "value", true],
  "/": ["divide", "value", true],
  "%": ["remainder", "value", true],
  "<": ["less", "truth", true],
  "<=": ["lessOrEqual", "truth", true],
  ">": ["greater", "truth", true],
  ">=": ["greaterOrEqual", "truth", true],
  "..": ["range", "any", true],
  "&": ["joinText", "value", true],
  "=": ["isEqual", "boolean", false],
  "!=": ["isDifferent", "boolean", false],
  in: ["isMember", "boolean", false],
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
  const [helper, kind, fails] = OPERATORS[operator] ?? rejectOperator(operator);
  const left = unit.emit(childOf(node, "lhs"), scope).js;
  const right = unit.emit(childOf(node, "rhs"), scope).js;
  const position = fails ? `, ${positionOf(node, scope)}` : "";
  return { js: `${unit.useHelper(helper)}(${left}, ${right}${position})`, kind };
}

function rejectOperator(operator: string): never {
  throw new NotCompilableError(`the operator ${operator}`);
}

/** Emits `and` or `or`. JSONata reports errors of the right side at the position of the operator. */
function emitLogic(node: AstNode, scope: Scope): Code {
  const { unit } = scope;
  const left = emitBoolean(unit.emit(childOf(node, "lhs"), scope), scope);
  const rightScope: Scope = { ...scope, errorPosition: positionOf(node, scope) };
  const right = emitBoolean(unit.emit(childOf(node, "rhs"), rightScope), rightScope);
  return { js: `(${left} ${node.value === "and" ? "&&" : "||"} ${right})`, kind: "boolean" };
}

/** Emits the unary minus. */
export function emitNegation(node: AstNode, scope: Scope): Code {
  const value = scope.unit.emit(childOf(node, "expression"), scope).js;
  return { js: `${scope.unit.useHelper("negate")}(${value}, ${positionOf(node, scope)})`, kind: "value" };
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
