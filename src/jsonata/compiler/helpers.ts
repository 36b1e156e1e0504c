/** All helpers of generated code, under the names that it uses. */
export * from "../runtime/arithmetic.ts";
export { resetGuards } from "../runtime/guard.ts";
export { call, callBuiltin } from "../runtime/call.ts";
export { BUILTINS } from "../runtime/builtins/table.ts";
export { createMatcher } from "../runtime/builtins/regex.ts";
export { filter, pickNth } from "../runtime/predicate.ts";
export {
  listContextItems,
  readField,
  followNames,
  isRecord,
  listItems,
  readFieldAsList,
  readPath,
  applyStep,
} from "../runtime/path.ts";
export {
  collapse,
  collapseKeepingList,
  addMembers,
  addWhole,
  groupOf,
  unwrapContext,
  wrapInput,
} from "../runtime/sequence.ts";
export { orderBy } from "../runtime/sort.ts";
export { isDifferent, isEqual, isMember, joinText, isTruthy } from "../runtime/values.ts";
