/** JSONata, usable on its own: `compile` turns an expression into a function, `check` finds its problems. */
export { check, findLiteralArguments } from "./check-expression.ts";
export { collectExpressions, compile } from "./compiler/compile.ts";
export { type Bindings, type Expression, ExpressionError } from "./language/expression.ts";
export type { InputNames } from "./language/input-names.ts";
export {
  awaitAll,
  ignoreRejections,
  mapMaybe,
  type MaybePromise,
  thenMaybe,
} from "./language/maybe-promise.ts";
export { prepareRegex, type Regex, RegexLimitError } from "./regex/index.ts";
export type { Show, ShownValue, TracedNode } from "./trace/recorder.ts";
export type { Evaluation } from "./trace/traced-expression.ts";

/** Loads the tracer of expressions. It is a tool for authors, so serving requests never loads it. */
export const loadTracedForm = (): Promise<typeof import("./trace/traced-expression.ts")> =>
  import("./trace/traced-expression.ts");
