/** Filters and orders rows that the gateway has read. */
import {
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
import { compareNumbers, type ExactNumber, isExactNumber, parseNumber } from "../../base/index.ts";
import { parseScalar } from "../paths/query.ts";
import { readOperand, type OperandRules } from "./operand.ts";
import { forParameter, throwFilterError } from "./filter-error.ts";

const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === "number" || isExactNumber(value);

/**
 * Compares two values: negative, 0 or positive. Null and undefined come first, then false, true, numbers and strings.
 * All other values come last and are treated as equal.
 */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  return rank(a) - rank(b);
}

function rank(value: unknown): number {
  if (value === null || value === undefined) return 0;
  if (typeof value === "boolean") return value ? 2 : 1;
  if (isNumber(value)) return 3;
  return typeof value === "string" ? 4 : 5;
}

/**
 * Compares strings by code point. `<` compares UTF-16 units, so that characters above U+FFFF, which are surrogate pairs, come
 * before the last characters below.
 */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = sortWeight(a.charCodeAt(at)) - sortWeight(b.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Returns the sort weight of a UTF-16 unit: surrogates (U+D800 to U+DFFF) come after all other units. */
function sortWeight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** One alpha field of rows that the gateway filters itself. */
export interface SelectField<Row> extends OperandRules {
  /** Returns the value of the field in a row: the id of a reference, or a date-time in the form of both dialects. */
  readonly value: (row: Row) => unknown;
  /**
   * For ids with several spellings in filters: returns the id of the rows, or undefined if missing. Null is not
   * translated.
   */
  readonly translate?: (value: Scalar) => Scalar | undefined;
  /** Whether the field is compared with texts of a query: they are converted to numbers and booleans if the values are. */
  readonly isText?: boolean;
}

/** The fields by which a list can be filtered, by alpha name. */
export type SelectFields<Row> = ReadonlyMap<string, SelectField<Row>>;

type Predicate<Row> = (row: Row) => boolean;

/** The operand of a comparison. A text of a query may be a number that a double can't hold. */
type Operand = Scalar | ExactNumber;

/**
 * Returns the rows that match a filter, in the order of the filter. The sort is stable in both directions. The given list is
 * not changed.
 *
 * @throws {HttpError} 400 If a field is unknown or can't be compared with a value, even if there are no rows.
 */
export function selectRows<Row>(rows: readonly Row[], filter: Filter, fields: SelectFields<Row>): Row[] {
  const holds = createPredicate(filter.conditions, fields);
  const { parameters, search } = filter;
  const order = forParameter(parameters?.order, () => createOrder(filter, fields));
  if (search !== undefined)
    forParameter(parameters?.search, () => {
      throwFilterError("This list", "cannot be searched.");
    });
  const selected = rows.filter(holds);
  return order ? selected.sort(order) : selected;
}

type Compare<Row> = (a: Row, b: Row) => number;

function createOrder<Row>({ order = [] }: Filter, fields: SelectFields<Row>): Compare<Row> | undefined {
  const compares = order.map(({ field, descending }): Compare<Row> => {
    const { value } = fields.get(field) ?? throwFilterError(field, "cannot be ordered by.", "sort");
    return descending
      ? (a, b) => compareValues(value(b), value(a))
      : (a, b) => compareValues(value(a), value(b));
  });
  return compares.length === 0
    ? undefined
    : (a, b) => compares.reduce((result, compare) => result || compare(a, b), 0);
}

function createPredicate<Row>(conditions: Conditions, fields: SelectFields<Row>): Predicate<Row> {
  const predicates = conditions.map((condition) => createConditionPredicate(condition, fields));
  return (row) => predicates.every((holds) => holds(row));
}

function createConditionPredicate<Row>(condition: Condition, fields: SelectFields<Row>): Predicate<Row> {
  if (condition.kind === "field") return createFieldPredicate(condition, fields);
  const members = condition.members.map((member) => createPredicate(member, fields));
  return condition.kind === "and"
    ? (row) => members.every((holds) => holds(row))
    : (row) => members.some((holds) => holds(row));
}

function createFieldPredicate<Row>(
  { field: name, tests, parameter }: FieldCondition,
  fields: SelectFields<Row>,
): Predicate<Row> {
  const { field, prepared } = forParameter(parameter, () => {
    const field = fields.get(name) ?? throwFilterError(name, "cannot be filtered by.");
    const prepared = tests.map(
      (test) => [OPERATOR_TESTS[test.operator], selectOperand(test, name, field)] as const,
    );
    return { field, prepared };
  });
  return (row) => {
    const value = field.value(row);
    return prepared.every(([holds, operand]) =>
      holds(value, field.isText ? asTypeOf(value, operand) : operand),
    );
  };
}

/** Returns the value that rows are compared with. @throws {HttpError} 400 for a value that the field can't have */
function selectOperand<Row>(test: Test, name: string, field: SelectField<Row>): Operand {
  const { operator, value } = test;
  if (field.isText && !field.dateTime && needsOrder(operator) && typeof value === "string") {
    const number = parseNumber(value);
    if (number !== undefined) return number;
  }
  const operand = readOperand(test, name, field);
  if (!field.translate || !isEquality(operator) || operand === null) return operand;
  return field.translate(operand) ?? throwFilterError(name, "has no such value.");
}

/** Converts a text to the type of a value, a number or a boolean. It stays unchanged if the value is neither. */
function asTypeOf(value: unknown, operand: Operand): Operand {
  if (typeof operand !== "string") return operand;
  const [first] = elements(value);
  if (typeof first === "boolean") return parseScalar(operand, "boolean") ?? operand;
  return isNumber(first) ? (parseNumber(operand) ?? operand) : operand;
}

/** Creates a test by the order of values. Values of different types, and null, can't be compared: the test is then false. */
const ordered =
  (holds: (order: number) => boolean) =>
  (value: unknown, operand: Operand): boolean => {
    const areComparable = isNumber(value)
      ? isNumber(operand)
      : typeof value === "string" && typeof operand === "string";
    return areComparable && holds(compareValues(value, operand));
  };

const OPERATOR_TESTS: Readonly<Record<TestOperator, (value: unknown, operand: Operand) => boolean>> = {
  eq: equals,
  neq: (value, operand) => !equals(value, operand),
  contains: (value, operand) => elements(value).some((element) => includes(element, operand)),
  gt: ordered((order) => order > 0),
  gte: ordered((order) => order >= 0),
  lt: ordered((order) => order < 0),
  lte: ordered((order) => order <= 0),
};

/** Whether a value equals an operand. As in v4, an array equals a value if one of its elements does. Undefined equals null. */
function equals(value: unknown, operand: Operand): boolean {
  return elements(value ?? null).some(
    (element) =>
      element === operand ||
      // A double never equals a number that a double can't hold.
      (isExactNumber(element) && isExactNumber(operand) && compareNumbers(element, operand) === 0),
  );
}

const includes = (value: unknown, operand: Operand): boolean =>
  typeof value === "string" && typeof operand === "string" && value.includes(operand);

const elements = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
