/** All helpers of generated code, under the names that it uses. */
export * from "./arithmetic.ts";
export { resetGuards } from "./guard.ts";
export {
  call,
  callPiped,
  rejectForgottenDollar,
  PLACEHOLDER,
  createLambda,
  deferCall,
  applyPartially,
  pipe,
  callInTailPosition,
  UNSET,
} from "./call.ts";
export { BUILTINS } from "./builtins/table.ts";
export { createMatcher, testPattern, replaceText } from "./builtins/regex.ts";
export { filter, pickNth } from "./predicate.ts";
export { groupBy, groupTuples } from "./group.ts";
export {
  listContextItems,
  listDescendants,
  readField,
  followNames,
  isRecord,
  listItems,
  readFieldAsList,
  applyStep,
  listMemberValues,
} from "./path.ts";
export { copyPlain, printResult as textOf } from "./plain.ts";
export {
  collapse,
  collapseKeepingList,
  addMembers,
  addWhole,
  markConstructed,
  unwrapContext,
  collapsePathKeepingList,
  wrapInput,
} from "./sequence.ts";
export { orderBy } from "./sort.ts";
export { createTransform } from "./transform.ts";
export {
  filterTuples,
  numberTuples,
  pickNthTuple,
  createTuples,
  applyTupleStep,
  valuesOfTuples,
} from "./tuple.ts";
export { isDifferent, isEqual, isMember, joinText, isTruthy } from "./values.ts";
