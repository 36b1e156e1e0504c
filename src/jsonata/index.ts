/** Expressions of a mapping pack. The only door: `compile` makes JavaScript of what it can, and interprets the rest. */
export { compile, compiledBy, interpretedBy } from "./compile.ts";
export { checkExpression, type ExpressionFault } from "./check.ts";
export { prepareRegex, RegexLimitError, type Regex } from "./regex/index.ts";
export { ExpressionError, type Bindings, type Expression } from "./expression.ts";
export type { InputNames } from "./input-names.ts";
export { allMaybe, allOf, ignoreRejections, thenMaybe, type MaybePromise } from "./maybe-promise.ts";
