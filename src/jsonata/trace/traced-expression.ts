/**
 * An expression that shows how it gets its result: the package `jsonata` evaluates it once more, and reports each step. No request
 * is ever served by it: only the tools that explain a request make it, in a pack of their own.
 */
import { type Origin, toJsonText } from "../../base/index.ts";
import { isNode, walk, type AstNode } from "../language/ast.ts";
import { compileOrInterpret, runWith, type CompileOptions } from "../compiler/compile.ts";
import type { Bindings, Expression } from "../language/expression.ts";
import { thenMaybe } from "../language/maybe-promise.ts";
import { interpret, type StepHooks } from "../interpreter/interpret.ts";
import type { Environment } from "../runtime/library.ts";
import { findMembers, Recorder, type Frame, type Step } from "./recorder.ts";
import { createRangeFinder } from "./source-range.ts";

/** One evaluation of an expression. */
export interface Evaluation {
  readonly source: string;
  /** Where the expression is written; undefined for one that is in no file. */
  readonly origin: Origin | undefined;
  readonly input: unknown;
  readonly bindings: Bindings;
  readonly roots: readonly Frame[];
  /** Evaluations of nodes that are left out. */
  readonly omitted: number;
  readonly value: unknown;
  readonly error: unknown;
  /** Whether the expression has the name of a secret: then all its values may come from one. */
  readonly namesSecret: boolean;
}

/** The inputs of a trace, and its listener. */
export interface Tracing {
  /** Whether the member or the variable of this name is a secret. */
  readonly isSecret: (name: string) => boolean;
  /** Is called at each evaluation, also at one that fails. Must not throw. The promise never rejects. */
  readonly onEvaluation: (evaluation: Promise<Evaluation>) => void;
}

/** Values whose text is the same as in the source, and functions, which have no text. */
const UNTRACED = new Set(["string", "number", "value", "regex", "lambda"]);

/** The name under which an evaluation has its recorder: no expression can read it. */
const RECORDER = "the recorder";

/** Records the steps of an expression in the recorder of each evaluation. */
function createHooks(source: string, ast: AstNode): StepHooks {
  const stepOf = createSteps(source, ast);
  const recorderOf = ({ lookup }: Environment) => lookup(RECORDER) as Recorder;
  return {
    enter(node, environment) {
      const step = stepOf(node);
      if (step) recorderOf(environment).enter(step);
    },
    leave: (node, environment, result) => recorderOf(environment).leave(node, result),
  };
}

/** Makes the step of a node; undefined for one that is not recorded. */
function createSteps(source: string, ast: AstNode): (node: AstNode) => Step | undefined {
  const rangeOf = createRangeFinder(source);
  const branches = new Map<unknown, "then" | "else">();
  /** Names of a path, and called functions. Their results are part of the value of the path or the call. */
  const names = new Set<unknown>();
  walk(ast, (node) => {
    if (node.type === "condition")
      for (const branch of ["then", "else"] as const) branches.set(node[branch], branch);
    names.add(node["procedure"]);
    if (node.type === "path" && Array.isArray(node["steps"]))
      for (const step of node["steps"]) if (isNode(step) && step.type === "name") names.add(step);
  });
  const steps = new Map<AstNode, Step>();
  return (node) => {
    const branch = branches.get(node);
    if (names.has(node) || (UNTRACED.has(node.type) && branch === undefined)) return undefined;
    const known = steps.get(node);
    if (known) return known;
    const { start, end } = rangeOf(node);
    const step = { node, text: source.slice(start, end), offset: start, branch };
    steps.set(node, step);
    return step;
  };
}

/** Functions that are bound, so that their calls are recorded. Each has as many parameters as before. */
function recordCalls(bindings: Bindings, recorder: Recorder): Bindings {
  const entries = Object.entries(bindings).map(([name, bound]) => {
    if (typeof bound !== "function") return [name, bound] as const;
    function recorded(this: unknown, ...args: unknown[]): unknown {
      const result: unknown = Reflect.apply(bound as (...given: unknown[]) => unknown, this, args);
      recorder.addLookup({ name, args, result });
      return result;
    }
    Object.defineProperty(recorded, "length", { value: bound.length });
    return [name, recorded] as const;
  });
  return Object.fromEntries(entries);
}

/** Whether an expression has a member, a variable or a text with the name of a secret. */
function namesSecretIn(ast: unknown, isSecret: Tracing["isSecret"]): boolean {
  let found = false;
  walk(ast, ({ type, value }) => {
    if ((type === "name" || type === "variable" || type === "string") && isSecret(String(value)))
      found = true;
  });
  return found;
}

/** Creates a function that evaluates an expression once more, and records how. It never rejects. */
function createTrace(
  source: string,
  origin: Origin | undefined,
  isSecret: Tracing["isSecret"],
): (input: unknown, bindings: Bindings) => Promise<Evaluation> {
  let tree: AstNode | undefined;
  const expression = interpret(source, origin, (ast) => {
    tree = ast;
    return createHooks(source, ast);
  });
  const members = findMembers(tree);
  return async (input, bindings) => {
    const recorder = new Recorder(members);
    const all = { ...recordCalls(bindings, recorder), [RECORDER]: recorder };
    let [value, error]: [unknown, unknown] = [undefined, undefined];
    try {
      value = await expression.evaluate(input, all);
    } catch (thrown) {
      error = thrown;
    }
    const { roots, omitted } = recorder;
    const namesSecret = namesSecretIn(tree, isSecret);
    return { source, origin, input, bindings, roots, omitted, value, error, namesSecret };
  };
}

/**
 * Makes an expression that reports each of its evaluations. Its results are those of `compile`.
 *
 * @throws {ExpressionError} If the source is not JSONata.
 */
export function traceExpression(source: string, options: CompileOptions, tracing: Tracing): Expression {
  const { choice: _choice, ...plain } = compileOrInterpret(source, options);
  let trace: ReturnType<typeof createTrace> | undefined;
  function evaluate(input: unknown, bindings: Bindings): unknown {
    trace ??= createTrace(source, options.origin, tracing.isSecret);
    tracing.onEvaluation(trace(input, bindings));
    return plain.evaluate(input, bindings);
  }
  const print: Expression["print"] = (input, bindings) => thenMaybe(evaluate(input, bindings), toJsonText);
  return { ...plain, evaluate, print };
}

/** Runs a function that compiles expressions, such as one that loads a pack, and traces all of these. */
export const runTraced = <T>(tracing: Tracing, run: () => T): T =>
  runWith((source, options) => traceExpression(source, options, tracing), run);
