/** Applies a filter to alpha objects that the gateway has at hand, with the meaning that it has in v4. */

import { compareValues } from "./compare.ts";
import type { Condition, Conditions, FieldCondition, Filter, Scalar, Test } from "./condition.ts";
import { operandOf } from "./operand.ts";
import type { OperandRules } from "./operand.ts";
import { throwFilterError } from "./filter-error.ts";

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
