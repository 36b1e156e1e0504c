/** `+order_by` and `+order`, which stand at the top of a filter (document 1, Filtering and sorting). */

import type { Filterable, Item } from "./filterable.ts";

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
