/**
 * The operators that stand inside a field: what value each takes, and which field values it picks
 * (document 1, Filtering and sorting). Letters count as they are written: nothing is folded.
 */

import type { FieldType } from "../fields/field.ts";
import type { Filterable, Item } from "./compile-filter.ts";

export type ValueTest = (value: unknown) => boolean;

interface Operator {
  readonly takes: string;
  readonly accepts: (operand: unknown, type: FieldType) => boolean;
  readonly test: (operand: unknown) => ValueTest;
}

const isScalar = (value: unknown): boolean => value === null || typeof value !== "object";

/** Compares like with like only: a number never stands before or after a string or null. */
function comparing(holds: (difference: number) => boolean): Operator {
  return {
    takes: "a number, or a date-time on a date-time field",
    accepts: (operand, type) => typeof operand === "number" || (type === "date-time" && isDateTime(operand)),
    test: (operand) => {
      if (typeof operand === "number") return (value) => typeof value === "number" && holds(value - operand);
      const time = String(operand).replace(/Z$/, "");
      // Date-times of one form sort as text.
      return (value) => typeof value === "string" && holds(value < time ? -1 : Number(value > time));
    },
  };
}

function isDateTime(operand: unknown): boolean {
  return typeof operand === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?$/.test(operand);
}

export const operators: Readonly<Record<string, Operator>> = {
  "+gt": comparing((difference) => difference > 0),
  "+gte": comparing((difference) => difference >= 0),
  "+lt": comparing((difference) => difference < 0),
  "+lte": comparing((difference) => difference <= 0),
  "+contains": {
    takes: "a string",
    accepts: (operand) => typeof operand === "string",
    test: (operand) => (value) => textOf(value).includes(operand as string),
  },
  "+neq": {
    takes: "a string, a number, a boolean or null",
    accepts: isScalar,
    test: (operand) => (value) => value !== operand,
  },
};

/** A number is searched as it is written; null holds no string but the empty one. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** Equality: what a plain value in a filter asks for. */
export function equals(operand: unknown): ValueTest {
  return (value) => value === operand;
}

// `+order_by` and `+order`, which stand at the top of a filter (document 1, Filtering and sorting).

/** Sorts items in place of a copy; equal ones keep their places. */
export type Order = <T extends { readonly value: Item }>(rows: readonly T[]) => T[];

/** Absent where no order is asked for. What is wrong goes to `faults`. */
export function readOrder(
  members: Readonly<Record<string, unknown>>,
  filterable: Filterable,
  errors: string[],
): Order | undefined {
  const by = members["+order_by"];
  const direction = members["+order"];
  if (direction !== undefined && direction !== "asc" && direction !== "desc") {
    errors.push("Unable to apply filter: +order is asc or desc");
  }
  if (by === undefined) {
    if (direction !== undefined) errors.push("Unable to apply filter: +order needs +order_by");
    return undefined;
  }
  const field = typeof by === "string" ? filterable.get(by) : undefined;
  if (!field) {
    errors.push(`Unable to apply filter: +order_by names a filterable field, not ${JSON.stringify(by)}`);
    return undefined;
  }
  const sign = direction === "desc" ? -1 : 1;
  return (rows) =>
    rows
      .map((row) => ({ row, key: field.read(row.value) }))
      .sort((a, b) => sign * compare(a.key, b.key))
      .map(({ row }) => row);
}

/** Null and missing values come first, arrays are ordered by their first element; a field holds one type. */
function compare(a: unknown, b: unknown): number {
  if (Array.isArray(a) || Array.isArray(b)) return compare(first(a), first(b));
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return (a as string) < (b as string) ? -1 : 1;
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : value;
}
