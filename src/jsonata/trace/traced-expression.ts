/**
 * An expression that records how its result is computed: the package `jsonata` evaluates it again, and reports each
 * step. Such expressions never serve requests. The tools that explain a request create them, in a separate pack.
 */
import { toJsonText } from "../../base/index.ts";
import { walk } from "../language/ast.ts";
import { runWith } from "../compiler/compile.ts";
import type { Bindings, Expression } from "../language/expression.ts";
import { findInputNames, type InputNames } from "../language/input-names.ts";
import { thenMaybe } from "../language/maybe-promise.ts";
import { createEvaluator } from "../interpreter/interpret.ts";
import { parse, parseProgram } from "../interpreter/parse.ts";
import { type NodeBudget, Recorder, type Show, type TracedNode } from "./recorder.ts";

/** The steps of one evaluation. */
export interface Recording {
  readonly nodes: readonly TracedNode[];
  /** Number of omitted evaluations of sub-expressions. */
  readonly omitted: number;
  readonly value: unknown;
  /** The error of the evaluation; undefined if it did not fail. */
  readonly error: unknown;
}

/** One evaluation of an expression. */
export interface Evaluation {
  readonly expression: Expression;
  readonly input: unknown;
  readonly bindings: Bindings;
  /** Evaluates the expression again, and records its steps. Never rejects. */
  record(show: Show, budget: NodeBudget): Promise<Recording>;
}

/** Called at each evaluation, even if it fails. Must not throw. */
type OnEvaluation = (evaluation: Evaluation) => void;

/** Wraps the bound functions, so that their calls are recorded. Each keeps its number of parameters. */
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

/** Returns the names of members and variables in an expression, and its texts, which may be names of members. */
export function namesIn({ source }: Expression): ReadonlySet<string> {
  const names = new Set<string>();
  walk(parse(source), ({ type, value }) => {
    if (type === "name" || type === "variable" || type === "string") names.add(String(value));
  });
  return names;
}

/** Returns the members of a variable that an expression reads; `all` if the syntax tree does not show them. */
export function findVariableNames({ source }: Expression, variable: string): InputNames {
  const ast = structuredClone(parse(source));
  walk(ast, (node) => {
    if (node.type === "variable" && node.value === variable) Object.assign(node, { value: "$" });
  });
  return findInputNames(ast, false);
}

/** Creates an expression that reports each of its evaluations. Its results are those of the given one. */
export function traceExpression(
  { choice: _choice, ...expression }: Expression,
  onEvaluation: OnEvaluation,
): Expression {
  const { source, origin } = expression;
  async function record(
    input: unknown,
    bindings: Bindings,
    ...[show, budget]: Parameters<Evaluation["record"]>
  ): Promise<Recording> {
    const program = parseProgram(source);
    const recorder = new Recorder(source, program.ast, show, budget);
    const again = createEvaluator(program, origin, recorder);
    let [value, error]: [unknown, unknown] = [undefined, undefined];
    try {
      value = await again(input, recordCalls(bindings, recorder));
    } catch (thrown) {
      error = thrown;
    }
    const { nodes, omitted } = recorder;
    return { nodes, omitted, value, error };
  }
  function evaluate(input: unknown, bindings: Bindings): unknown {
    const recordThis: Evaluation["record"] = (show, budget) => record(input, bindings, show, budget);
    onEvaluation({ expression, input, bindings, record: recordThis });
    return expression.evaluate(input, bindings);
  }
  const print: Expression["print"] = (input, bindings) => thenMaybe(evaluate(input, bindings), toJsonText);
  return { ...expression, evaluate, print };
}

/** Runs a function that compiles expressions, such as one that loads a pack, and traces all of these expressions. */
export const runTraced = <T>(onEvaluation: OnEvaluation, run: () => T): T =>
  runWith((expression) => traceExpression(expression, onEvaluation), run);
