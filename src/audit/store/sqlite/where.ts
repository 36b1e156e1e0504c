import type { SQLInputValue } from "node:sqlite";

/** The conditions of a query. */
export interface Where {
  /** With `WHERE`, or empty. */
  readonly text: string;
  readonly values: SQLInputValue[];
}

/** A condition. It is left out where its value is undefined. */
export type Term = readonly [condition: string, ...values: (SQLInputValue | undefined)[]];

/** Joins the terms that have values with AND. */
export function where(terms: readonly Term[]): Where {
  const given = terms.filter(([, value]) => value !== undefined);
  const text = given.map(([condition]) => condition).join(" AND ");
  return {
    text: text && `WHERE ${text}`,
    values: given.flatMap(([, ...values]) => values as SQLInputValue[]),
  };
}
