/** A filter as the gateway understands it: alpha's field names, operators by what they do. */

export type Scalar = string | number | boolean | null;

/** A whole object where a field wants an id (`{"id": "newark", "label": …}`). */
export type WholeObject = Readonly<Record<string, unknown>>;

/** One test of one field's value. */
export type Test =
  | { readonly operator: "eq"; readonly value: Scalar | WholeObject }
  | { readonly operator: "neq"; readonly value: Scalar }
  | { readonly operator: "contains"; readonly value: string }
  | { readonly operator: Comparison; readonly value: number | string };

export type Comparison = "gt" | "gte" | "lt" | "lte";

/** All tests of one key hold: one for equality, one per operator otherwise. */
export interface FieldCondition {
  readonly kind: "field";
  readonly field: string;
  readonly tests: readonly Test[];
}

/** All (`and`) or one (`or`) of the members hold. */
export interface GroupCondition {
  readonly kind: "and" | "or";
  readonly members: readonly Conditions[];
}

export type Condition = FieldCondition | GroupCondition;

/** One filter object, in the order of its keys: all of them hold. An empty one holds for everything. */
export type Conditions = readonly Condition[];

export interface Filter {
  readonly conditions: Conditions;
  /** The alpha field to order by, when the client named one. */
  readonly orderBy?: string;
  /** The direction, when the client gave one; ascending otherwise. */
  readonly descending?: boolean;
}
