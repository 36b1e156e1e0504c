import { findFreeVariables, type AstNode } from "../language/ast.ts";
import { NotCompilableError } from "./code.ts";
import type { Origin } from "../../base/index.ts";
import { generate, type Generated } from "./generate.ts";
import { findChoice } from "../language/choice.ts";
import type { Bindings, Choice, Expression } from "../language/expression.ts";
import { findInputNames } from "../language/input-names.ts";
import { findRequiredVariables } from "../language/missing-variables.ts";
import { interpret } from "../interpreter/interpret.ts";
import { parse } from "../interpreter/parse.ts";
import { toExpressionError } from "../runtime/failure.ts";
import * as helpers from "./helpers.ts";
import { copyPlain, printResult } from "../runtime/plain.ts";

type Program = (input: unknown, bindings: Bindings) => unknown;

/**
 * Instantiates generated code. Strings of the expression only enter the code as JSON, and names only as generated
 * identifiers, so that no expression can inject code.
 */
function instantiate({ source, constants }: Generated): Program {
  // oxlint-disable-next-line typescript/no-implied-eval -- this is the compiler
  const createProgram = new Function("runtime", "constants", source) as (...parts: unknown[]) => Program;
  return createProgram(helpers, constants);
}

/** Converts all errors of a program to {@link ExpressionError}. */
const withExpressionErrors =
  <Result>(program: (input: unknown, bindings: Bindings) => Result, origin: Origin | undefined) =>
  (input: unknown, bindings: Bindings): Result => {
    try {
      return program(input, bindings);
    } catch (thrown) {
      throw toExpressionError(thrown, origin);
    }
  };

/** Instantiates code on the first call: many expressions of a pack never run. */
function instantiateLazily(generated: Generated): Program {
  let program: Program | undefined;
  return (input, bindings) => {
    program ??= instantiate(generated);
    return program(input, bindings);
  };
}

/** Compiles the test of an expression that returns one variable or nothing. */
function compileChoice(ast: AstNode, origin: Origin | undefined): { readonly choice?: Choice } {
  const found = findChoice(ast);
  if (!found) return {};
  const { variable, test } = found;
  const program = withExpressionErrors(instantiateLazily(generate(test)), origin);
  const isChosen = (input: unknown, bindings: Bindings): boolean => program(input, bindings) === true;
  return { choice: { variable, variables: findFreeVariables(test), isChosen } };
}

/** Generates code, or returns the reason why the compiler does not support the expression. */
function tryGenerate(ast: AstNode): Generated | NotCompilableError {
  try {
    return generate(ast);
  } catch (error) {
    if (error instanceof NotCompilableError) return error;
    throw error;
  }
}

/** The facts that the compiler finds about a syntax tree. */
interface Analysis extends Pick<Expression, "variables" | "inputNames" | "requiredVariables"> {
  /** The generated code, or the error with the reason why the compiler does not support the expression. */
  readonly code: Generated | NotCompilableError;
}

/** The results by syntax tree, because a pack uses many expressions for several fields. */
const analyses = new WeakMap<AstNode, Analysis>();

function analyze(ast: AstNode): Analysis {
  const cached = analyses.get(ast);
  if (cached) return cached;
  const variables = findFreeVariables(ast);
  const analysis = {
    code: tryGenerate(ast),
    variables,
    inputNames: findInputNames(ast),
    requiredVariables: findRequiredVariables(ast, variables),
  };
  analyses.set(ast, analysis);
  return analysis;
}

/** Replaces an expression that was compiled by a different one. */
type ReplaceExpression = (expression: Expression) => Expression;

/** The function that replaces the expressions that {@link compile} returns. {@link runWith} changes it temporarily. */
const mode: { replace: ReplaceExpression } = { replace: (expression) => expression };

/** Runs a function that compiles expressions, and replaces its expressions. */
export function runWith<T>(replace: ReplaceExpression, run: () => T): T {
  const before = mode.replace;
  mode.replace = (expression) => replace(before(expression));
  try {
    return run();
  } finally {
    mode.replace = before;
  }
}

/**
 * Runs a function, and interprets all expressions that it compiles. Tests compare the results with those of compiled
 * expressions.
 */
export const runInterpreted = <T>(run: () => T): T =>
  runWith(
    ({ choice: _choice, ...expression }) => ({
      ...expression,
      ...interpret(expression.source, expression.origin),
    }),
    run,
  );

/** Runs a function and returns its result together with all expressions that were compiled meanwhile. */
export function collectExpressions<T>(run: () => T): {
  readonly result: T;
  readonly expressions: readonly Expression[];
} {
  const expressions: Expression[] = [];
  function collect(expression: Expression): Expression {
    expressions.push(expression);
    return expression;
  }
  return { result: runWith(collect, run), expressions };
}

/**
 * Compiles a JSONata expression to JavaScript that runs synchronously. An expression that the compiler does not support
 * is interpreted, with the same results but asynchronously: then `engine` is `interpreted` and `fallback` is the reason.
 *
 * @param source The JSONata expression.
 * @param bound Names of all variables that will be bound, without the `$`. Default: any except those of built-in functions.
 *   Bound functions must be synchronous.
 * @param origin The location of the expression, for the errors of its evaluations.
 * @throws {ExpressionError} If the source is not JSONata. The error has the offset of the problem.
 * @example
 *   const total = compile("$sum(items.price) * $rate", new Set(["rate"]));
 *   total.evaluate({ items: [{ price: 2 }, { price: 3 }] }, { rate: 2 }); // => 10
 *   total.print({ items: [{ price: 1 }] }, { rate: 3 }); // => "3"
 *   total.engine; // => "compiled"
 */
export function compile(source: string, bound?: ReadonlySet<string>, origin?: Origin): Expression {
  const ast = parse(source);
  const { code: generated, ...analysis } = analyze(ast);
  const code = rejectShadowing(generated, bound);
  const found = { source, origin, ...analysis };
  if (code instanceof NotCompilableError)
    return mode.replace({ ...found, ...interpret(source, origin), fallback: code.message });
  const program = instantiateLazily(code);
  return mode.replace({
    ...found,
    ...compileChoice(ast, origin),
    engine: "compiled",
    code: code.source,
    evaluate: withExpressionErrors((input, bindings) => copyPlain(program(input, bindings)), origin),
    print: withExpressionErrors((input, bindings) => printResult(program(input, bindings)), origin),
  });
}

/** Compiled code calls built-in functions directly, so no variable may have the name of one that it calls. */
function rejectShadowing(
  code: Generated | NotCompilableError,
  bound: ReadonlySet<string> = new Set(),
): Generated | NotCompilableError {
  if (code instanceof NotCompilableError) return code;
  const [name] = code.builtins.intersection(bound);
  return name === undefined
    ? code
    : new NotCompilableError(`a variable with the name of the function $${name}`);
}
