import type { Node } from "../ast.ts";
import { either, NotCompiled, type Code, type Kind } from "./code.ts";
import { blockScope } from "./frames.ts";
import { positionOf, type Helper, type Scope } from "./scope.ts";

/** Operators, conditions, blocks and bindings. */

/** What a binary operator calls, what it gives, and whether it can fail at its position. */
const OPERATORS: Readonly<Record<string, readonly [Helper, Kind, boolean]>> = {
  "+": ["add", "scalar", true],
  "-": ["subtract", "scalar", true],
  "*": ["multiply", "scalar", true],
  "/": ["divide", "scalar", true],
  "%": ["remainder", "scalar", true],
  "<": ["less", "truth", true],
  "<=": ["lessOrEqual", "truth", true],
  ">": ["greater", "truth", true],
  ">=": ["greaterOrEqual", "truth", true],
  "&": ["join", "string", true],
  "..": ["range", "any", true],
  "=": ["equal", "boolean", false],
  "!=": ["differ", "boolean", false],
  in: ["includes", "boolean", false],
};

const part = (node: Node, name: string): Node => node[name] as Node;

/** Code for a condition: JavaScript's own truth of it is JSONata's. */
export function test(code: Code, scope: Scope): string {
  return code.kind === "boolean" || code.kind === "truth"
    ? code.js
    : `${scope.unit.use("truth")}(${code.js})`;
}

/** Code that is a boolean itself. */
function boolean(code: Code, scope: Scope): string {
  return code.kind === "truth" ? `(${code.js} === true)` : test(code, scope);
}

export function emitBinary(node: Node, scope: Scope): Code {
  const { unit } = scope;
  const operator = node.value as string;
  if (operator === "and" || operator === "or") return emitLogic(node, scope);
  const [helper, kind, fails] = OPERATORS[operator] ?? unknownOperator(operator);
  const left = unit.emit(part(node, "lhs"), scope).js;
  const right = unit.emit(part(node, "rhs"), scope).js;
  const position = fails ? `, ${positionOf(node, scope)}` : "";
  return { js: `${unit.use(helper)}(${left}, ${right}${position})`, kind };
}

function unknownOperator(operator: string): never {
  throw new NotCompiled(`the operator ${operator}`);
}

/** What fails on the right of `and` and `or` is reported at the operator. */
function emitLogic(node: Node, scope: Scope): Code {
  const { unit } = scope;
  const left = boolean(unit.emit(part(node, "lhs"), scope), scope);
  const blamed = { ...scope, blame: positionOf(node, scope) };
  const right = boolean(unit.emit(part(node, "rhs"), blamed), blamed);
  return { js: `(${left} ${node.value === "and" ? "&&" : "||"} ${right})`, kind: "boolean" };
}

export function emitNegation(node: Node, scope: Scope): Code {
  const value = scope.unit.emit(part(node, "expression"), scope).js;
  return { js: `${scope.unit.use("negate")}(${value}, ${positionOf(node, scope)})`, kind: "scalar" };
}

type Emit = (node: Node, scope: Scope) => Code;

const MISSING: Code = { js: "undefined", kind: "scalar" };

/** `emit` writes the branches. */
export function emitCondition(node: Node, scope: Scope, emit: Emit = scope.unit.emit): Code {
  const condition = test(scope.unit.emit(part(node, "condition"), scope), scope);
  const then = emit(part(node, "then"), scope);
  const otherwise = node["else"] === undefined ? MISSING : emit(part(node, "else"), scope);
  return {
    js: `(${condition} ? ${then.js} : ${otherwise.js})`,
    kind: either(then.kind, otherwise.kind),
  };
}

/** `emit` writes the last expression, which is the block's value. */
export function emitBlock(node: Node, scope: Scope, emit: Emit = scope.unit.emit): Code {
  const expressions = node["expressions"] as readonly Node[];
  if (expressions.length === 0) return MISSING;
  const inner = blockScope(scope, expressions);
  const codes = expressions.map((expression, index) => {
    const code =
      index === expressions.length - 1 ? emit(expression, inner) : scope.unit.emit(expression, inner);
    for (let bound = expression; bound.type === "bind"; bound = part(bound, "rhs"))
      inner.frame.settle(String(part(bound, "lhs").value), code.kind);
    return code;
  });
  const last = codes.at(-1) as Code;
  if (codes.length === 1) return last;
  return { js: `(${codes.map(({ js }) => js).join(", ")})`, kind: last.kind };
}

export function emitBind(node: Node, scope: Scope): Code {
  const value = scope.unit.emit(part(node, "rhs"), scope);
  const name = String(part(node, "lhs").value);
  return name === "" ? value : { js: `(${scope.frame.bind(name)} = ${value.js})`, kind: value.kind };
}
