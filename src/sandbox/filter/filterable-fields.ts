/** The filterable fields of a resource, and how to read them. */
import { type FieldType, type Fields, isObject } from "../fields/field.ts";
export type Item = Readonly<Record<string, unknown>>;

/** A field by which lists are filtered. */
export interface FilterableField {
  readonly type: FieldType;
  readonly read: (item: Item) => unknown;
}

/** Fields by the name used in a filter, e.g. `entity.id` for a nested member. */
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
    return isObject(member) ? inner(member) : null;
  };
}
