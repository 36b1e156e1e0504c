/** Client filter → upstream filter: the fields, operators and values of the upstream. */
import {
  fieldNames,
  isEquality,
  needsOrder,
  type Condition,
  type Conditions,
  type FieldCondition,
  type Filter,
  type Test,
  type TestOperator,
} from "./condition.ts";
import type { Scalar } from "../values/value-kind.ts";
import type { Grammar } from "./grammar.ts";
import { readOperand, type OperandRules } from "./operand.ts";
import { forParameter, throwFilterError } from "./filter-error.ts";
import type { SentFilter } from "./filter-writer.ts";

/** One alpha field that v4 can filter by. */
export interface FilterField extends OperandRules {
  readonly v4: string;
  /**
   * For fields with different values in v4: returns the v4 values of an alpha value. Empty if not all are known,
   * undefined if the value does not exist. Null is not translated.
   */
  readonly translate?: (value: Scalar) => readonly Scalar[] | undefined;
  /**
   * The tests that v4 can do: for equality, also by the order of values, or all of them. Default: for equality where
   * values are translated, else all.
   */
  readonly tests?: "equality" | "order" | "all";
  /**
   * For a boolean that v4 can't filter by, and that is true for all objects up to a boundary and false after it: the v4
   * number field that v4 filters by instead.
   */
  readonly boundaryField?: string;
  /** The value of `boundaryField` in the last object for which the boolean is true. */
  readonly boundary?: number;
  /** v4 values with this prefix become null in responses. No other value contains it. */
  readonly hiddenPrefix?: string;
  /** Whether v4 sorts like alpha. False if the values differ. @default true */
  readonly ordered?: boolean;
}

/** The fields by which v4 can filter, by alpha name. */
export type FilterFields = ReadonlyMap<string, FilterField>;

/** A v4 filter object. */
type V4Object = Readonly<Record<string, unknown>>;

/** One key of a v4 filter object with its value. */
type Part = readonly [key: string, value: unknown];

const NO_VALUES: ReadonlyMap<string, Scalar> = new Map();

/**
 * Translates a filter to v4's header or query. A filter that can't be translated exactly is rejected, so that a client
 * never gets a different list than the requested one.
 *
 * @param extra A v4 condition of the pack that is ANDed to the filter.
 * @param unfiltered The values to send for fields by which the list is not filtered, by v4 name.
 * @throws {HttpError} 400 If v4 can't filter like this.
 */
export function translateFilter(
  filter: Filter,
  fields: FilterFields,
  grammar: Grammar,
  extra: object = {},
  unfiltered: ReadonlyMap<string, Scalar> = NO_VALUES,
): SentFilter {
  const client = translateConditions(filter.conditions, fields, grammar);
  const [first = {}, ...others] = [client, extra].filter((object) => Object.keys(object).length > 0);
  const conditions = others.length === 0 ? first : { [grammar.upstream("and")]: [first, ...others] };
  const search = forParameter(filter.parameters?.search, () =>
    filter.search === undefined ? {} : { [grammar.upstream("search")]: filter.search },
  );
  const all = unfiltered.size === 0 ? {} : valuesOfUnfiltered(unfiltered, filter, fields);
  return grammar.writer.write({
    ...conditions,
    ...all,
    ...search,
    ...forParameter(filter.parameters?.order, () => translateOrder(filter, fields, grammar)),
  });
}

function valuesOfUnfiltered(
  unfiltered: ReadonlyMap<string, Scalar>,
  { conditions }: Filter,
  fields: FilterFields,
): V4Object {
  const used = new Set(fieldNames(conditions).map((name) => fields.get(name)?.v4));
  return Object.fromEntries([...unfiltered].filter(([name]) => !used.has(name)));
}

function translateOrder(
  { order = [] }: Filter,
  fields: FilterFields,
  { writer, upstream }: Grammar,
): V4Object {
  const [first] = order;
  if (!first) return {};
  upstream("order_by");
  const translated = order.map(({ field: name, ...direction }) => {
    const field = fields.get(name);
    if (!field || field.ordered === false) return throwFilterError(name, "cannot be ordered by.", "sort");
    return { field: field.v4, ...direction };
  });
  return writer.order(translated) ?? throwFilterError(first.field, "cannot be ordered by.", "sort");
}

function translateConditions(conditions: Conditions, fields: FilterFields, grammar: Grammar): V4Object {
  return mergeParts(
    conditions.flatMap((condition) => translateCondition(condition, fields, grammar)),
    grammar,
  );
}

/** Merges the parts into one object if all keys are unique, so that a simple filter looks the same in v4 and alpha. */
function mergeParts(parts: readonly Part[], { upstream }: Grammar): V4Object {
  const keys = new Set(parts.map(([key]) => key));
  if (keys.size === parts.length) return Object.fromEntries(parts);
  return { [upstream("and")]: parts.map((part) => Object.fromEntries([part])) };
}

function translateCondition(condition: Condition, fields: FilterFields, grammar: Grammar): readonly Part[] {
  if (condition.kind === "field") return translateField(condition, fields, grammar);
  const members = condition.members.map((member) => translateConditions(member, fields, grammar));
  return [[grammar.upstream(condition.kind), members]];
}

/** Returns one part for each test: in v4, an object can only contain one operator. */
function translateField(
  { field: name, tests, parameter }: FieldCondition,
  fields: FilterFields,
  grammar: Grammar,
): readonly Part[] {
  return forParameter(parameter, () => {
    const field = fields.get(name) ?? throwFilterError(name, "cannot be filtered by.");
    return tests.map((test) => translateTest(test, name, field, grammar));
  });
}

/** Whether v4 can test a field by an operator. */
export const canTest = (
  { translate, tests = translate ? "equality" : "all" }: FilterField,
  operator: TestOperator,
): boolean => isEquality(operator) || tests === "all" || (tests === "order" && needsOrder(operator));

/** Translates a test of a boolean with a boundary to a test of the numbers up to the boundary, or after it. */
function translateBoundaryTest(
  { operator, value }: Test,
  name: string,
  { boundaryField = "", boundary = 0 }: FilterField,
  { upstream }: Grammar,
): Part {
  if (!isEquality(operator) || typeof value !== "boolean")
    return throwFilterError(name, "can be compared with true and false alone.");
  return [boundaryField, { [(operator === "eq") === value ? upstream("lte") : upstream("gt")]: boundary }];
}

function translateTest(test: Test, name: string, field: FilterField, grammar: Grammar): Part {
  const { operator } = test;
  const { v4, hiddenPrefix, tests, translate } = field;
  const { upstream, writer } = grammar;
  if (field.boundaryField !== undefined) return translateBoundaryTest(test, name, field, grammar);
  if (!canTest(field, operator))
    return throwFilterError(grammar.spelling(operator), `cannot be used on ${name}.`);
  const isOrdered = tests === "order" && needsOrder(operator);
  const value = isOrdered ? (test.value as Scalar) : readOperand(test, name, field);
  const operand = (sent: Scalar) => {
    if (!writer.canCompare(operator, sent))
      return throwFilterError(name, "cannot be compared with this value.");
    return operator === "eq" ? sent : { [upstream(operator)]: sent };
  };
  if (value === null && hiddenPrefix !== undefined) {
    // v4 has no operator for "does not contain".
    if (operator !== "eq") return throwFilterError(name, "cannot be compared with null by this operator.");
    return [upstream("or"), [{ [v4]: null }, { [v4]: { [upstream("contains")]: hiddenPrefix } }]];
  }
  if (!translate || value === null) return [v4, operand(value)];
  const [first, ...others] = translate(value) ?? throwFilterError(name, "has no such value.");
  if (first === undefined) return throwFilterError(name, "cannot be compared with this value.");
  if (others.length === 0) return [v4, operand(first)];
  const alternatives = [first, ...others].map((each) => ({ [v4]: operand(each) }));
  return [operator === "eq" ? upstream("or") : upstream("and"), alternatives];
}
