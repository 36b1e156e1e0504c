/** All helpers of generated code, under the names that it uses. */
export * from "./arithmetic.ts";
export { resetGuards } from "./guard.ts";
export { call, callBuiltin } from "./call.ts";
export { BUILTINS } from "./builtins/table.ts";
export { createMatcher, testPattern, replaceText } from "./builtins/regex.ts";
export { filter, pickNth } from "./predicate.ts";
export {
  listContextItems,
  readField,
  followNames,
  isRecord,
  listItems,
  readFieldAsList,
  applyStep,
} from "./path.ts";
export {
  collapse,
  collapseKeepingList,
  addMembers,
  addWhole,
  groupOf,
  unwrapContext,
  wrapInput,
} from "./sequence.ts";
export { orderBy } from "./sort.ts";
export { isDifferent, isEqual, isMember, joinText, isTruthy } from "./values.ts";
