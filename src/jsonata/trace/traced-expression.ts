/**
 * The second form of an expression: the same generated code, with a call before and after each node. It gives the same result
 * and records how. No request is ever served by it: only the tools that explain a request make it, in a pack of their own.
 */
import { type Origin, toJsonText } from "../../base/index.ts";
import { isNode, type AstNode } from "../ast.ts";
import { compileWrapped, runWith, type MakeExpression } from "../compile.ts";
import type { WrapNode } from "../compiler/generate.ts";
import type { Bindings, Expression } from "../expression.ts";
import { interpret, parse } from "../interpret.ts";
import { thenMaybe } from "../maybe-promise.ts";
import { Recorder, type Frame, type Step } from "./recorder.ts";
import { createRangeFinder } from "./source-range.ts";
import { findTaint } from "./taint.ts";

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
  /** Why there are no nodes: the expression is interpreted. */
  readonly fallback: string | undefined;
}

/** What a trace needs to know, and whom it tells. */
export interface Tracing {
  /** Whether the member or the variable of this name is a secret. */
  readonly isSecret: (name: string) => boolean;
  /** Is called at the end of each evaluation, also of one that fails. Must not throw. */
  readonly onEvaluation: (evaluation: Evaluation) => void;
}

/** Values that are their own text, and functions, which have none. */
const UNTRACED = new Set(["string", "number", "value", "regex", "lambda"]);

/** The recorder of the evaluation that runs. Evaluations of compiled expressions are synchronous. */
interface Slot {
  recorder: Recorder;
}

/** Creates the wrapper of one expression: code that records each node. */
function createWrap(source: string, slot: Slot, isSecretNode: (node: AstNode) => boolean): WrapNode {
  const rangeOf = createRangeFinder(source);
  const branches = new Map<AstNode, "then" | "else">();
  return (node, scope, emitNode) => {
    if (node.type === "condition")
      for (const branch of ["then", "else"] as const) {
        const part = node[branch];
        if (isNode(part)) branches.set(part, branch);
      }
    const code = emitNode(node, scope);
    const branch = branches.get(node);
    const isTailCall = node["thunk"] === true;
    if (UNTRACED.has(node.type) && branch === undefined && !isTailCall) return code;
    const { start, end } = rangeOf(node);
    const step: Step = {
      node,
      text: source.slice(start, end),
      offset: start,
      isSecret: isSecretNode(node),
      branch,
      isTailCall,
    };
    const enter = scope.unit.addConstant(() => slot.recorder.enter(step));
    const leave = scope.unit.addConstant((frame: Frame, value: unknown) => {
      slot.recorder.leave(frame, value);
      return value;
    });
    return { js: `${leave}(${enter}(), ${code.js})`, kind: code.kind };
  };
}

/** Functions that are bound, so that their calls are recorded. Each has as many parameters as before. */
function recordCalls(bindings: Bindings, slot: Slot): Bindings {
  const entries = Object.entries(bindings).map(([name, bound]) => {
    if (typeof bound !== "function") return [name, bound] as const;
    function recorded(this: unknown, ...args: unknown[]): unknown {
      const result: unknown = Reflect.apply(bound as (...given: unknown[]) => unknown, this, args);
      slot.recorder.addLookup({ name, args, result });
      return result;
    }
    Object.defineProperty(recorded, "length", { value: bound.length });
    return [name, recorded] as const;
  });
  return Object.fromEntries(entries);
}

/** Only the result of an interpreted expression is known. */
function traceInterpreted(source: string, origin: Origin | undefined, tracing: Tracing): Expression {
  const expression = interpret(source, origin);
  const fallback = "interpreted, so only its result is known";
  const evaluate = (input: unknown, bindings: Bindings): unknown =>
    thenMaybe(expression.evaluate(input, bindings), (value) => {
      const whole = { source, origin, input, bindings, roots: [], omitted: 0 };
      tracing.onEvaluation({ ...whole, value, error: undefined, fallback });
      return value;
    });
  return { ...expression, evaluate };
}

/**
 * Compiles an expression that reports each of its evaluations. Its results are those of `compile`.
 *
 * @throws {ExpressionError} If the source is not JSONata.
 */
export function compileTraced(
  source: string,
  { bound, origin }: Parameters<MakeExpression>[1],
  tracing: Tracing,
): Expression {
  const slot: Slot = { recorder: new Recorder() };
  let wrap: WrapNode | undefined;
  const expression = compileWrapped(source, { bound, origin }, (node, scope, emitNode) => {
    wrap ??= createWrap(source, slot, findTaint(parse(source), tracing.isSecret));
    return wrap(node, scope, emitNode);
  });
  if (!expression) return traceInterpreted(source, origin, tracing);

  function evaluate(input: unknown, bindings: Bindings): unknown {
    const outer = slot.recorder;
    const recorder = new Recorder();
    slot.recorder = recorder;
    let [value, error]: [unknown, unknown] = [undefined, undefined];
    try {
      value = expression?.evaluate(input, recordCalls(bindings, slot));
      return value;
    } catch (thrown) {
      error = thrown;
      throw thrown;
    } finally {
      slot.recorder = outer;
      const { roots, omitted } = recorder;
      tracing.onEvaluation({
        source,
        origin,
        input,
        bindings,
        roots,
        omitted,
        value,
        error,
        fallback: undefined,
      });
    }
  }
  return { ...expression, evaluate, print: (input, bindings) => toJsonText(evaluate(input, bindings)) };
}

/** Runs a function that compiles expressions, such as one that loads a pack, and traces all of these. */
export const runTraced = <T>(tracing: Tracing, run: () => T): T =>
  runWith((source, options) => compileTraced(source, options, tracing), run);
