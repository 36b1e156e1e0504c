import type { Scalar } from "../values/value-kind.ts";

/** A whole object in place of an id (`{"id": "newark", "label": …}`). */
export type WholeObject = Readonly<Record<string, unknown>>;

/** One test of one field's value. */
export type Test =
  | { readonly operator: "eq"; readonly value: Scalar | WholeObject }
  | { readonly operator: "neq"; readonly value: Scalar }
  | { readonly operator: "contains"; readonly value: string }
  | { readonly operator: Comparison; readonly value: number | string };

/** Operators that need an order. */
export type Comparison = "gt" | "gte" | "lt" | "lte";

/** The tests of one key, all of which must pass: one for equality, or one for each operator. */
export interface FieldCondition {
  readonly kind: "field";
  readonly field: string;
  readonly tests: readonly Test[];
  /** The client's query parameter; undefined if the filter is in a header, and for a default. */
  readonly parameter?: string;
}

/** All members (`and`) or at least one (`or`) must hold. */
export interface GroupCondition {
  readonly kind: "and" | "or";
  readonly members: readonly Conditions[];
}

/** One condition of a filter. */
export type Condition = FieldCondition | GroupCondition;

/** The conditions of one filter object, in the order of its keys. All must hold. An empty object holds for every row. */
export type Conditions = readonly Condition[];

/** A field that a list is ordered by. */
export interface Order {
  readonly field: string;
  /** The direction, if the client gave one. Default: ascending. */
  readonly descending?: boolean;
}

/** A parsed filter, with alpha's field names and neutral operator names. */
export interface Filter {
  readonly conditions: Conditions;
  /** The alpha fields to order by, the most important first, if the client named any. */
  readonly order?: readonly Order[];
  /** A text to search for in all fields that the upstream searches. */
  readonly search?: string;
  /** The query parameters of the order and of the text; undefined if the filter is in a header. */
  readonly parameters?: { readonly order: string | undefined; readonly search: string | undefined };
}
