/** Everything that generated code can use, by the names it has there. */
export * from "./arithmetic.ts";
export { begin } from "./guard.ts";
export { call, callPiped, forgotten, HOLE, lambda, later, partial, pipe, tailCall, UNSET } from "./call.ts";
export { BUILTINS } from "./builtins/table.ts";
export { matcher, matches, replaceText } from "./builtins/regex.ts";
export { filter, nth } from "./filter.ts";
export { groupBy, groupTuples } from "./group.ts";
export {
  contextItems,
  descendants,
  field,
  follow,
  isRecord,
  items,
  keptField,
  step,
  wildcard,
} from "./path.ts";
export { plain } from "./plain.ts";
export { collapse, collapseKept, collect, collectWhole, cons, contextValue, keep, wrap } from "./sequence.ts";
export { toJsonText as textOf } from "../../dialect/json/text.ts";
export { orderBy } from "./sort.ts";
export { transform } from "./transform.ts";
export { tupleFilter, tupleIndex, tupleNth, tuples, tupleStep, untupled } from "./tuple.ts";
export { differ, equal, includes, join, truth } from "./values.ts";
