/** Which fields of a resource a filter may name, and how each is read from an object. */

import type { Fields, FieldType } from "../rules/field.ts";

export type Item = Readonly<Record<string, unknown>>;

export interface FilterableField {
  readonly type: FieldType;
  readonly read: (item: Item) => unknown;
}

/** By the name used in a filter: dotted for members of members, e.g. `entity.id`. */
export type Filterable = ReadonlyMap<string, FilterableField>;

export function filterableFields(fields: Fields): Filterable {
  const found = new Map<string, FilterableField>();
  collect(fields, [], found);
  return found;
}

function collect(fields: Fields, above: readonly string[], found: Map<string, FilterableField>): void {
  for (const [name, field] of Object.entries(fields)) {
    const path = [...above, name];
    if (field.filter) found.set(path.join("."), { type: field.type, read: reader(path) });
    if (field.type === "object" && field.members) collect(field.members, path, found);
  }
}

function reader(path: readonly string[]): (item: Item) => unknown {
  const [first = "", ...rest] = path;
  if (rest.length === 0) return (item) => item[first];
  const inner = reader(rest);
  return (item) => {
    const member = item[first];
    return member === null || typeof member !== "object" ? null : inner(member as Item);
  };
}
