/** Filters in a neutral form, with the client's field names and neutral operators. */
import type { Scalar } from "../values/value-kind.ts";
import type { FieldOperator } from "./filter-definition.ts";

/** A whole object instead of an id (`{"id": "newark", "label": …}`). */
export type WholeObject = Readonly<Record<string, unknown>>;

/** Operators that compare a field with one value. */
export type TestOperator = Exclude<FieldOperator, "in">;

/** One test of one field's value. Only equality is tested with whole objects, and only `contains` with texts. */
export interface Test {
  readonly operator: TestOperator;
  readonly value: Scalar | WholeObject;
}

export const isEquality = (operator: TestOperator): boolean => operator === "eq" || operator === "neq";

/** Whether an operator compares values by their order. */
export const needsOrder = (operator: TestOperator): boolean =>
  !isEquality(operator) && operator !== "contains";

/** The tests of one key, all of which must pass: one for equality, or one for each operator. */
export interface FieldCondition {
  readonly kind: "field";
  readonly field: string;
  readonly tests: readonly Test[];
  /** The client's query parameter; undefined if the filter is in a header, and for a default filter. */
  readonly parameter?: string;
}

/** A condition that holds if all members (`and`) or at least one member (`or`) hold. */
interface GroupCondition {
  readonly kind: "and" | "or";
  readonly members: readonly Conditions[];
}

/** One condition of a filter. */
export type Condition = FieldCondition | GroupCondition;

/** The conditions of one filter object, in the order of its keys. All must hold. An empty object matches every row. */
export type Conditions = readonly Condition[];

/** Returns all fields of conditions, at any depth. */
export const fieldNames = (conditions: Conditions): string[] =>
  conditions.flatMap((each) => (each.kind === "field" ? [each.field] : each.members.flatMap(fieldNames)));

/** A field that a list is ordered by. */
export interface Order {
  readonly field: string;
  /** Whether the order is descending, if the client defined it. Default: ascending. */
  readonly descending?: boolean;
}

/** A parsed filter. */
export interface Filter {
  readonly conditions: Conditions;
  /** The fields to order by, the most important first, if the client named any. */
  readonly order?: readonly Order[];
  /** A text to search for in all fields that the upstream searches. */
  readonly search?: string;
  /** The query parameters of the order and of the text; undefined if the filter is in a header. */
  readonly parameters?: { readonly order: string | undefined; readonly search: string | undefined };
}
