/**
 * An expression that shows how it gets its result: the package `jsonata` evaluates it once more, and reports each step. No request
 * is ever served by it: only the tools that explain a request make it, in a pack of their own.
 */
import { type Origin, toJsonText } from "../../base/index.ts";
import { walk } from "../language/ast.ts";
import { compileOrInterpret, runWith, type CompileOptions } from "../compiler/compile.ts";
import type { Bindings, Expression } from "../language/expression.ts";
import { findInputNames, type InputNames } from "../language/input-names.ts";
import { thenMaybe } from "../language/maybe-promise.ts";
import { interpretProgram } from "../interpreter/interpret.ts";
import { parse, parseProgram } from "../interpreter/parse.ts";
import { type NodeBudget, Recorder, type Show, type TracedNode } from "./recorder.ts";

/** The steps of one evaluation. */
export interface Recording {
  readonly nodes: readonly TracedNode[];
  /** Evaluations of sub-expressions that are left out. */
  readonly omitted: number;
  readonly value: unknown;
  /** Undefined if the evaluation has not failed. */
  readonly error: unknown;
}

/** One evaluation of an expression. */
export interface Evaluation {
  readonly expression: Expression;
  /** Where the expression is written; undefined for one that is in no file. */
  readonly origin: Origin | undefined;
  readonly input: unknown;
  readonly bindings: Bindings;
  /** Evaluates the expression once more, and records its steps. Never rejects. */
  record(show: Show, budget: NodeBudget): Promise<Recording>;
}

/** Is called at each evaluation, also at one that fails. Must not throw. */
type OnEvaluation = (evaluation: Evaluation) => void;

/** Functions that are bound, so that their calls are recorded. Each has as many parameters as before. */
function recordCalls(bindings: Bindings, recorder: Recorder): Bindings {
  const entries = Object.entries(bindings).map(([name, bound]) => {
    if (typeof bound !== "function") return [name, bound] as const;
    function recorded(this: unknown, ...args: unknown[]): unknown {
      const result: unknown = Reflect.apply(bound as (...given: unknown[]) => unknown, this, args);
      recorder.addLookup(name, args, result);
      return result;
    }
    return [name, Object.defineProperty(recorded, "length", { value: bound.length })] as const;
  });
  return Object.fromEntries(entries);
}

/** The names of members and variables in an expression, and its texts, which may be names of members. */
export function namesIn({ source }: Expression): ReadonlySet<string> {
  const names = new Set<string>();
  walk(parse(source), ({ type, value }) => {
    if (type === "name" || type === "variable" || type === "string") names.add(String(value));
  });
  return names;
}

/** The members of a variable that an expression reads; `all` if the syntax tree does not show them. */
export function findVariableNames({ source }: Expression, variable: string): InputNames {
  const ast = structuredClone(parse(source));
  walk(ast, (node) => {
    if (node.type === "variable" && node.value === variable) Object.assign(node, { value: "$" });
  });
  return findInputNames(ast, false);
}

/**
 * Makes an expression that reports each of its evaluations. Its results are those of `compile`.
 *
 * @throws {ExpressionError} If the source is not JSONata.
 */
export function traceExpression(
  source: string,
  options: CompileOptions,
  onEvaluation: OnEvaluation,
): Expression {
  const { choice: _choice, ...expression } = compileOrInterpret(source, options);
  const { origin } = options;
  async function record(
    input: unknown,
    bindings: Bindings,
    ...[show, budget]: Parameters<Evaluation["record"]>
  ): Promise<Recording> {
    const program = parseProgram(source);
    const recorder = new Recorder(source, program.ast, show, budget);
    const traced = interpretProgram(source, program, origin, recorder);
    let [value, error]: [unknown, unknown] = [undefined, undefined];
    try {
      value = await traced.evaluate(input, recordCalls(bindings, recorder));
    } catch (thrown) {
      error = thrown;
    }
    const { nodes, omitted } = recorder;
    return { nodes, omitted, value, error };
  }
  function evaluate(input: unknown, bindings: Bindings): unknown {
    const recordThis: Evaluation["record"] = (show, budget) => record(input, bindings, show, budget);
    onEvaluation({ expression, origin, input, bindings, record: recordThis });
    return expression.evaluate(input, bindings);
  }
  const print: Expression["print"] = (input, bindings) => thenMaybe(evaluate(input, bindings), toJsonText);
  return { ...expression, evaluate, print };
}

/** Runs a function that compiles expressions, such as one that loads a pack, and traces all of these. */
export const runTraced = <T>(onEvaluation: OnEvaluation, run: () => T): T =>
  runWith((source, options) => traceExpression(source, options, onEvaluation), run);
