import type { Condition, Conditions, FieldCondition, Filter, Scalar, Test } from "./condition.ts";
import { operandOf } from "./operand.ts";
import type { OperandRules } from "./operand.ts";
import { throwFilterError } from "./filter-error.ts";

/** How values of alpha objects are put in order: within a type by value, between types by type. */

/**
 * Compares two values: negative, 0 or positive. Null (and what is missing) comes first, then false, true,
 * numbers and strings; whatever else there is comes last, all equal.
 */
function compareValues(a: unknown, b: unknown): number {
  if (typeof a === "string" && typeof b === "string") return compareText(a, b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  return rank(a) - rank(b);
}

function rank(value: unknown): number {
  if (value === null || value === undefined) return 0;
  if (typeof value === "boolean") return value ? 2 : 1;
  if (typeof value === "number") return 3;
  return typeof value === "string" ? 4 : 5;
}

/**
 * By code point and not, as `<` does it, by UTF-16 unit: there the characters above U+FFFF come before the
 * last ones below, since they are written with units from the middle.
 */
function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const difference = place(a.charCodeAt(at)) - place(b.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

/** Moves surrogates (U+D800 to U+DFFF) behind all other units. */
function place(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** One alpha field of rows that the gateway filters itself. */
export interface SelectField<Row> extends OperandRules {
  /** The field's value in a row; of a reference its id, of a date-time the dialects' form. */
  readonly value: (row: Row) => unknown;
}

/** By alpha's name; what is not in it can't be filtered by. */
export type SelectFields<Row> = ReadonlyMap<string, SelectField<Row>>;

type Predicate<Value> = (value: Value) => boolean;

/**
 * The rows for which a filter holds, in its order. Rows that compare equal stay in the order they had, in
 * both directions. The rows handed in are left as they are.
 *
 * @throws {Refusal} 400 for an unknown field or a value that a field can't be compared with, rows or no rows.
 */
export function selectRows<Row>(rows: readonly Row[], filter: Filter, fields: SelectFields<Row>): Row[] {
  const holds = all(filter.conditions, fields);
  const order = ordering(filter, fields);
  const selected = rows.filter(holds);
  return order ? selected.sort(order) : selected;
}

function ordering<Row>({ orderBy, descending }: Filter, fields: SelectFields<Row>) {
  if (orderBy === undefined) return undefined;
  const { value } = fields.get(orderBy) ?? throwFilterError(orderBy, "cannot be ordered by.");
  return descending
    ? (a: Row, b: Row) => compareValues(value(b), value(a))
    : (a: Row, b: Row) => compareValues(value(a), value(b));
}

function all<Row>(conditions: Conditions, fields: SelectFields<Row>): Predicate<Row> {
  const predicates = conditions.map((condition) => predicateOf(condition, fields));
  return (row) => predicates.every((holds) => holds(row));
}

function predicateOf<Row>(condition: Condition, fields: SelectFields<Row>): Predicate<Row> {
  if (condition.kind === "field") return fieldPredicate(condition, fields);
  const members = condition.members.map((member) => all(member, fields));
  return condition.kind === "and"
    ? (row) => members.every((holds) => holds(row))
    : (row) => members.some((holds) => holds(row));
}

function fieldPredicate<Row>(
  { field: name, tests }: FieldCondition,
  fields: SelectFields<Row>,
): Predicate<Row> {
  const field = fields.get(name) ?? throwFilterError(name, "cannot be filtered by.");
  const prepared = tests.map((test) => [meaning[test.operator], operandOf(test, name, field)] as const);
  return (row) => {
    const value = field.value(row);
    return prepared.every(([holds, operand]) => holds(value, operand));
  };
}

const meaning: Readonly<Record<Test["operator"], (value: unknown, operand: Scalar) => boolean>> = {
  eq: equals,
  neq: (value, operand) => !equals(value, operand),
  contains: (value, operand) => elements(value).some((element) => includes(element, operand)),
  gt: (value, operand) => comparable(value, operand) && compareValues(value, operand) > 0,
  gte: (value, operand) => comparable(value, operand) && compareValues(value, operand) >= 0,
  lt: (value, operand) => comparable(value, operand) && compareValues(value, operand) < 0,
  lte: (value, operand) => comparable(value, operand) && compareValues(value, operand) <= 0,
};

/** An array equals what one of its elements equals, as v4 has it; a member that is missing equals null. */
function equals(value: unknown, operand: Scalar): boolean {
  return elements(value ?? null).includes(operand);
}

function includes(value: unknown, operand: Scalar): boolean {
  return typeof value === "string" && typeof operand === "string" && value.includes(operand);
}

function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** Comparisons with null, and between types, are false. */
function comparable(value: unknown, operand: Scalar): boolean {
  return typeof value === typeof operand;
}
