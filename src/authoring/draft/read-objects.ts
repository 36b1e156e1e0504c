/** The objects of an OpenAPI document with resolved references. */
import { isObject, type Json } from "../../base/index.ts";
import { objectsIn, readPlace, SchemaBudget } from "../../migration/index.ts";
import type { ApiObject, Field } from "./api-description.ts";

/** Maximum number of fields of an object, and maximum nesting of objects. */
const [MAX_FIELDS, MAX_LEVELS] = [2000, 6];

/** Returns a schema with its alternatives and parts. A schema that contains itself is only read once. */
function partsOf(schema: Json, seen: Set<Json> = new Set()): Json[] {
  if (seen.has(schema) || seen.size > MAX_FIELDS) return [];
  seen.add(schema);
  const inner = ["allOf", "anyOf", "oneOf"].flatMap((key) => objectsIn(schema[key]));
  return [schema, ...inner.flatMap((part) => partsOf(part, seen))];
}

/** Returns the schema of the items of a list. Undefined for other schemas. */
export const itemsOf = (schema: Json): Json | undefined =>
  partsOf(schema)
    .map(({ items }) => items)
    .find((items) => isObject(items));

/** Returns the members of an object. Empty for other schemas. */
export function membersOf(schema: Json): ReadonlyMap<string, Json> {
  const members = new Map<string, Json>();
  for (const { properties } of partsOf(schema))
    for (const [name, member] of isObject(properties) ? Object.entries(properties) : [])
      if (isObject(member) && !members.has(name)) members.set(name, member);
  return members;
}

/** How nested objects are read. */
export type Nesting =
  /** A member whose object has a name in the document is one field. */
  | "named"
  /** Each member with an object is one field, and the members of the object are fields as well. */
  | "all";

/** Reads objects. Each schema is only read once. */
export class ObjectReader {
  readonly #nesting: Nesting;
  readonly #budget = new SchemaBudget();
  readonly #names = new Map<unknown, string>();
  readonly #known = new Map<unknown, ApiObject>();

  constructor(document: Json, nesting: Nesting) {
    this.#nesting = nesting;
    const { components } = document;
    const schemas = isObject(components) && isObject(components["schemas"]) ? components["schemas"] : {};
    for (const [name, schema] of Object.entries(schemas))
      if (isObject(schema)) this.#names.set(schema["properties"] ?? schema, name);
  }

  /** Reads the object of a schema; undefined if it has no members. @throws {UnreadableDocumentError} */
  read(schema: Json, fallbackName: string): ApiObject | undefined {
    if (membersOf(schema).size === 0) return undefined;
    const { key, name } = this.#namedSchema(schema) ?? { key: schema, name: fallbackName };
    const known = this.#known.get(key);
    if (known) return known;
    const object = { name, fields: new Map<string, Field>() };
    // The object is stored before its members are read, because they may contain the same object.
    this.#known.set(key, object);
    this.#addFields("", schema, object.fields, []);
    return object;
  }

  /** Returns the first alternative that has a name in the document. */
  #namedSchema(schema: Json): { readonly key: unknown; readonly name: string } | undefined {
    for (const part of partsOf(schema)) {
      const key = part["properties"] ?? part;
      const name = this.#names.get(key);
      if (name !== undefined) return { key, name };
      if (isObject(part["properties"])) return undefined;
    }
    return undefined;
  }

  #addFields(prefix: string, schema: Json, fields: Map<string, Field>, path: readonly Json[]): void {
    if (path.length >= MAX_LEVELS || path.includes(schema)) return;
    for (const [key, member] of membersOf(schema)) {
      this.#budget.spend();
      // Dots separate the names of nested members.
      if (key === "" || /[.[\]]/.test(key)) continue;
      if (fields.size >= MAX_FIELDS) return;
      const name = prefix === "" ? key : `${prefix}.${key}`;
      const items = itemsOf(member);
      const inner = items ?? member;
      const hasObject = membersOf(inner).size > 0;
      const isNamed = hasObject && this.#namedSchema(inner) !== undefined;
      const isOne = hasObject && !items;
      if (!isOne || isNamed || this.#nesting === "all")
        fields.set(name, this.#field(name, member, hasObject ? this.read(inner, key) : undefined));
      if (isOne && (!isNamed || this.#nesting === "all"))
        this.#addFields(name, member, fields, [...path, schema]);
    }
  }

  #field(name: string, member: Json, object: ApiObject | undefined): Field {
    const { description } = member;
    return {
      name,
      place: readPlace(member, false, { budget: this.#budget, skip: "writeOnly" }),
      description: typeof description === "string" ? description.slice(0, 500) : "",
      object,
      isList: itemsOf(member) !== undefined,
    };
  }
}
