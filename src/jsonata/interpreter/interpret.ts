import { type Origin, toJsonText } from "../../base/index.ts";
import type { AstNode } from "../language/ast.ts";
import type { Bindings, Expression } from "../language/expression.ts";
import { toExpressionError } from "../runtime/failure.ts";
import { LIMITED_FUNCTIONS, ON_ENTRY, type Environment } from "../runtime/library.ts";
import { copyPlain } from "../runtime/plain.ts";
import { parseProgram } from "./parse.ts";

/**
 * The work limit of one evaluation: its steps, and the size of their results. An interpreted step costs as much as ten
 * compiled steps.
 */
const MAX_WORK = 100_000;

/** jsonata calls the function under this name after each step. */
const ON_EXIT = Symbol.for("jsonata.__evaluate_exit") as unknown as string;

/** Called for each step of an expression. Must not throw. */
export interface StepHooks {
  enter(node: AstNode): void;
  leave(node: AstNode, result: unknown): void;
}

/** Returns the size of a value without the content of its members. A step that doubles the value must copy this much. */
function sizeOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  if (typeof value === "string") return value.length / 16;
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
}

/** Creates a function that counts the work of each evaluation. It throws D1012 if there is too much. */
function createWorkCounter(): (environment: Environment, result: unknown) => void {
  const work = new WeakMap<object, number>();
  return ({ base }, result) => {
    const done = (work.get(base) ?? 0) + 1 + sizeOf(result);
    // Like everything that jsonata throws, the error is a plain object.
    // oxlint-disable-next-line typescript/only-throw-error -- jsonata adds a message to it
    if (done > MAX_WORK) throw { code: "D1012" };
    work.set(base, done);
  };
}

/**
 * Creates the function that evaluates an expression with the `jsonata` package.
 *
 * Every evaluation gets its own bindings object. Without one, concurrent evaluations share their root (jsonata#804),
 * and the data of one customer appears in the response of another.
 *
 * @param origin The location of the expression, for the errors of its evaluations.
 * @param hooks are called for the nodes of its syntax tree
 */
export function createEvaluator(
  { program }: ReturnType<typeof parseProgram>,
  origin?: Origin,
  hooks?: StepHooks,
): (input: unknown, bindings: Bindings) => Promise<unknown> {
  const countWork = createWorkCounter();
  if (hooks) program.assign(ON_ENTRY, (node: AstNode) => hooks.enter(node));
  program.assign(ON_EXIT, (node: AstNode, _input: unknown, environment: Environment, result: unknown) => {
    hooks?.leave(node, result);
    countWork(environment, result);
  });
  return async (input, bindings) => {
    try {
      return copyPlain(await program.evaluate(input, { ...LIMITED_FUNCTIONS, ...bindings }));
    } catch (failure) {
      throw toExpressionError(failure, origin);
    }
  };
}

/**
 * Creates the functions of an expression that is evaluated by the `jsonata` package, asynchronously.
 *
 * @throws {ExpressionError} If the source does not parse, or has an unsupported regular expression.
 */
export function interpret(
  source: string,
  origin?: Origin,
): Pick<Expression, "engine" | "evaluate" | "print"> {
  const evaluate = createEvaluator(parseProgram(source), origin);
  return {
    engine: "interpreted",
    evaluate,
    print: async (input, bindings) => toJsonText(await evaluate(input, bindings)),
  };
}
