/** Conditions of a statement, and their values as its parameters. */

type Value = string | number | readonly string[];
export type Term = readonly [left: string, ...values: (Value | undefined)[]];

/** Collects values as the parameters of one statement. */
export function parameters() {
  const values: Value[] = [];
  const add = (value: Value): string => `$${values.push(value)}`;

  /** Joins the terms that have values with AND. `?` is replaced by each value. */
  function where(terms: readonly Term[]): string {
    const conditions = terms.flatMap(([condition, ...given]) => {
      if (given[0] === undefined) return [];
      const left = given.values();
      return [condition.replaceAll("?", () => add(left.next().value ?? ""))];
    });
    return conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
  }

  return { values, add, where };
}
