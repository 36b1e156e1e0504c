import type { Value } from "./driver.ts";

/** The conditions of a statement. */
export interface Where {
  /** The conditions with `WHERE`, or empty. */
  readonly text: string;
  readonly values: readonly Value[];
  /** Adds a value, and returns its SQL and all values. */
  readonly and: (value: Value) => { readonly sql: string; readonly values: readonly Value[] };
}

/** A condition, with `?` for each of its values. It is omitted if its first value is undefined. */
export type Term = readonly [condition: string, ...values: (Value | undefined)[]];

/** Joins the terms that have values with AND. */
export function where(terms: readonly Term[]): Where {
  const values: Value[] = [];
  const conditions = terms.flatMap(([condition, ...given]) => {
    if (given[0] === undefined) return [];
    const left = given.values();
    return [condition.replaceAll("?", () => `$${values.push(left.next().value ?? null)}`)];
  });
  return {
    text: conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "",
    values,
    and: (value) => ({ sql: `$${values.length + 1}`, values: [...values, value] }),
  };
}
