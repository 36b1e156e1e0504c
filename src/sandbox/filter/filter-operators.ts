/**
 * Filter operators: the operand that each accepts and the field values that it matches
 * (V-016 to V-022). Comparison is case-sensitive.
 */

import type { FieldType } from "../fields/field.ts";
import type { Filterable, Item } from "./filterable-fields.ts";

export type ValueTest = (value: unknown) => boolean;

interface Operator {
  readonly takes: string;
  readonly accepts: (operand: unknown, type: FieldType) => boolean;
  readonly test: (operand: unknown) => ValueTest;
}

const isScalar = (value: unknown): boolean => value === null || typeof value !== "object";

/** Compares only values of the same type: a number never matches a string or null. */
function comparing(holds: (difference: number) => boolean): Operator {
  return {
    takes: "a number, or a date-time on a date-time field",
    accepts: (operand, type) => typeof operand === "number" || (type === "date-time" && isDateTime(operand)),
    test: (operand) => {
      if (typeof operand === "number") return (value) => typeof value === "number" && holds(value - operand);
      const time = String(operand).replace(/Z$/, "");
      // Date-times in this format sort as text.
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
    test: (operand) => (value) => textOf(value).includes(String(operand)),
  },
  "+neq": {
    takes: "a string, a number, a boolean or null",
    accepts: isScalar,
    test: (operand) => (value) => value !== operand,
  },
};

/** Numbers are searched in their decimal form; null contains only the empty string. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

/** Tests for equality, which is the meaning of a plain value in a filter. */
export function equals(operand: unknown): ValueTest {
  return (value) => value === operand;
}

// `+order_by` and `+order`, top-level members of a filter (V-023 to V-025).

/** Returns a sorted copy of the rows; the sort is stable. */
export type Order = <T extends { readonly value: Item }>(rows: readonly T[]) => T[];

/** Reads the sort order; undefined if the filter has no `+order_by`. Adds problems to `errors`. */
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

/** Null and missing values sort first; arrays sort by their first element. */
function compare(a: unknown, b: unknown): number {
  if (Array.isArray(a) || Array.isArray(b)) return compare(first(a), first(b));
  if (a === b) return 0;
  if (a === null || a === undefined) return -1;
  if (b === null || b === undefined) return 1;
  return (a as string) < (b as string) ? -1 : 1;
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value;
}
