/** JSONata, usable on its own: `compile` turns an expression into a function, `check` finds its problems. */
export { compile, collectExpressions, runInterpreted } from "./compile.ts";
export { check, findLiteralArguments, type ExpressionProblem } from "./check-expression.ts";
export { prepareRegex, RegexLimitError, type Regex } from "./regex/index.ts";
export { ExpressionError, type Bindings, type Choice, type Expression } from "./expression.ts";
export type { Origin } from "../base/files/source-location.ts";
export type { InputNames } from "./input-names.ts";
export { awaitAll, mapMaybe, ignoreRejections, thenMaybe, type MaybePromise } from "./maybe-promise.ts";
