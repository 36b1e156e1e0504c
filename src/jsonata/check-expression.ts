import {
  calledName,
  childOf,
  childrenOf,
  findCollapsingList,
  findFreeVariables,
  isNode,
  stagesOf,
  walk,
  type AstNode,
} from "./language/ast.ts";
import { ExpressionError } from "./language/expression.ts";
import { parse, UNSUPPORTED_REGEX } from "./interpreter/parse.ts";
import { isImpure, isPure } from "./runtime/builtins/table.ts";
import { describePictureProblem } from "./picture-problem.ts";

/** A problem of an expression. `offset` is the number of characters before it in the source. */
interface ExpressionProblem {
  readonly message: string;
  readonly offset: number;
}

/** JSONata counts positions from 1. */
const offsetOf = ({ position = 1 }: AstNode): number => Math.max(0, position - 1);

/** The offset of a variable, whose position is the end of its name. */
const offsetOfVariable = ({ position = 0, value }: AstNode): number => position - String(value).length - 1;

/** Finds the calls whose first argument is the value before `~>`. */
function findPipedCalls(ast: AstNode): ReadonlySet<unknown> {
  const piped = new Set<unknown>();
  walk(ast, (node) => {
    if (node.type === "apply") piped.add(node["rhs"]);
  });
  return piped;
}

/** Finds invalid pictures of `$toMillis`, and time zones of `$fromMillis` that JSONata misinterprets. */
function findTimeProblems(ast: AstNode): ExpressionProblem[] {
  const problems: ExpressionProblem[] = [];
  const called = new Set<unknown>();
  const piped = findPipedCalls(ast);
  walk(ast, (node) => {
    const offset = offsetOf(node);
    const name = calledName(node);
    if (name === "toMillis") called.add(node["procedure"]);
    if (name === "toMillis" || name === "fromMillis") {
      const args = childrenOf(node, "arguments").slice(piped.has(node) ? 0 : 1);
      const message = name === "toMillis" ? describePicture(args[0]) : describeZone(args[1]);
      if (message !== undefined) problems.push({ message, offset });
    }
    if (node.type === "variable" && node.value === "toMillis" && !called.has(node))
      problems.push({ message: "$toMillis can only be called, not passed as a value", offset });
  });
  return problems;
}

function describePicture(picture: AstNode | undefined): string | undefined {
  if (picture === undefined) return undefined;
  if (picture.type !== "string") return "the picture of $toMillis must be a string literal";
  return describePictureProblem(String(picture.value));
}

/** JSONata rounds the hours of a zone down, even if the zone is negative. */
function describeZone(zone: AstNode | undefined): string | undefined {
  const offset = zone?.type === "string" ? Number.parseInt(String(zone.value), 10) : 0;
  return offset < 0 && offset % 100 !== 0
    ? `JSONata is an hour wrong in the time zone ${String(zone?.value)}: add the offset to the milliseconds`
    : undefined;
}

/** Operators and functions whose result is a number. */
const ARITHMETIC = new Set(["+", "-", "*", "/", "%"]);
const NUMBER_FUNCTIONS = new Set(["abs", "ceil", "count", "floor", "length", "number", "round", "sum"]);

/** Whether a predicate is probably a computed index. */
function isComputedIndex(node: AstNode): boolean {
  const { type, value } = node;
  if (type === "variable") return value !== "" && value !== "$";
  if (type === "unary") return value === "-";
  if (type === "binary") return ARITHMETIC.has(String(value));
  return NUMBER_FUNCTIONS.has(calledName(node) ?? "");
}

/**
 * Finds `a[$i][0]`. JSONata applies the second index to the list that the first one selects, not to the member
 * itself.
 */
function findIndexProblems(ast: AstNode): ExpressionProblem[] {
  const problems: ExpressionProblem[] = [];
  walk(ast, (node) => {
    const indexes = stagesOf(node).map(({ expr }) => expr);
    for (const [at, next] of indexes.slice(1).entries()) {
      const index = indexes[at];
      if (!isNode(index) || !isNode(next) || !isComputedIndex(index)) continue;
      if (next.type !== "number" && !isComputedIndex(next)) continue;
      const message =
        "an index after a computed index selects from a list of one: write parentheses around what is before it, as in ($list[$i])[0]";
      problems.push({ message, offset: offsetOf(index) });
    }
  });
  return problems;
}

/** Finds unknown variables, and calls of a function like `$now()` if a variable of its name is bound to a value. */
function findVariableProblems(ast: AstNode, bound: ReadonlySet<string>): ExpressionProblem[] {
  const free = findFreeVariables(ast);
  const names = [...bound].map((variable) => `$${variable}`).join(", ");
  function describe(name: string, isCalled: boolean): string | undefined {
    if (!free.has(name) || isPure(name)) return undefined;
    if (bound.has(name))
      return isCalled && isImpure(name)
        ? `$${name} can't be used as a function: write $${name}, which is the same throughout a request`
        : undefined;
    return isImpure(name)
      ? `$${name} can't be used: an expression depends on its input alone`
      : `unknown variable or function $${name}${names && `; in addition to JSONata's own functions there are ${names}`}`;
  }
  const problems: ExpressionProblem[] = [];
  const called = new Set<unknown>();
  walk(ast, (node) => {
    called.add(node["procedure"]);
    if (node.type !== "variable") return;
    const message = describe(String(node.value), called.has(node));
    if (message !== undefined) problems.push({ message, offset: offsetOfVariable(node) });
  });
  return problems;
}

/**
 * Checks an expression without running it. Reports syntax errors, unknown variables, impure functions, regular
 * expressions that can't run in linear time, lists that JSONata would collapse, and constructs that JSONata evaluates
 * wrongly.
 *
 * @param source The JSONata expression.
 * @param bound Names of the variables that will be bound, without the `$`.
 * @returns All problems; empty if the expression can be used.
 * @example
 *   check("$sum(items.price) * $rate", new Set(["rate"])); // => []
 *   check("$sum(items.price) * $rat", new Set(["rate"]))[0].offset; // => 20
 *   check("$now()", new Set()).length; // => 1
 */
export function check(source: string, bound: ReadonlySet<string>): ExpressionProblem[] {
  let ast: AstNode;
  try {
    ast = parse(source);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const message = error.jsonataCode === UNSUPPORTED_REGEX ? error.message : `not JSONata: ${error.message}`;
    return [{ message, offset: error.offset }];
  }
  const problems = [...findVariableProblems(ast, bound), ...findTimeProblems(ast), ...findIndexProblems(ast)];
  const collapsing = findCollapsingList(ast);
  if (collapsing) {
    const message =
      "JSONata turns a list of one into its member, and an empty list into nothing: write [ … ] around it for a list, or ( … )[0] for its first member";
    problems.push({ message, offset: offsetOf(collapsing) });
  }
  return problems;
}

/** A text that an expression passes to a function as its first argument. `offset` is the position of the call. */
interface LiteralArgument {
  readonly text: string;
  readonly offset: number;
}

/**
 * Finds the texts that are the first argument of a function. Computed first arguments are omitted.
 *
 * @param source An expression that {@link check} accepts.
 * @param name Name of the function, without the `$`.
 */
export function findLiteralArguments(source: string, name: string): LiteralArgument[] {
  const found: LiteralArgument[] = [];
  const ast = parse(source);
  const piped = findPipedCalls(ast);
  walk(ast, (node) => {
    if (calledName(node) !== name || piped.has(node)) return;
    const [first] = childrenOf(node, "arguments");
    if (first?.type === "string")
      found.push({ text: String(first.value), offset: offsetOfVariable(childOf(node, "procedure")) });
  });
  return found;
}
