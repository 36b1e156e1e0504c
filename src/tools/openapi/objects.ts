import type { FieldRule } from "../../mapping/schema/definition.ts";
import type { Pack } from "../../mapping/pack.ts";
import type { Resource } from "../../mapping/compile/resource.ts";
import type { FieldType } from "../../mapping/schema/surface-definition.ts";

type Json = Record<string, unknown>;

/** Where the schema of an object stands. */
export const objectRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

const DATE_TIME = {
  type: "string",
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`,
  description: "ISO 8601 in UTC, without a fraction and without a zone.",
};

const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: "null" }] });

/** A type of the surface. */
function ofType({ name, lists, nullable }: FieldType, isObject: (name: string) => boolean): Json {
  const plain = name === "any" ? {} : name === "date-time" ? DATE_TIME : { type: name };
  let schema: Json = isObject(name) ? objectRef(name) : plain;
  for (let list = 0; list < lists; list += 1) schema = { type: "array", items: schema };
  return nullable ? orNull(schema) : schema;
}

/** What a rule alone tells of its values, for packs that don't say what there is. */
function ofRule(rule: FieldRule): Json {
  if (rule.const !== undefined) return { const: rule.const };
  if (rule.type === "date-time") return orNull(DATE_TIME);
  const name = rule.object ?? rule.catalog;
  if (name === undefined) return {};
  const one = objectRef(name);
  return rule.array === true
    ? { type: "array", items: one }
    : orNull({ anyOf: [one, { type: "array", items: one }] });
}

/** Puts a schema at a place, `a.b` in the object `a`, `a[].b` in each member of the list `a`. */
function put(target: Json, path: readonly string[], schema: Json, optional: boolean): void {
  const [step = "", ...deeper] = path;
  const name = step.replaceAll("[]", "");
  target["type"] = "object";
  const properties = (target["properties"] ??= {}) as Json;
  const required = (target["required"] ??= []) as string[];
  if (!required.includes(name) && (deeper.length > 0 || !optional)) required.push(name);
  if (deeper.length === 0) {
    properties[name] = { ...(properties[name] as Json | undefined), ...schema };
    return;
  }
  const member = (properties[name] ??= step.endsWith("[]") ? { type: "array", items: {} } : {}) as Json;
  put((step.endsWith("[]") ? member["items"] : member) as Json, deeper, schema, optional);
}

/** Types of the surface that lie at or below a field. */
function typesOf(pack: Pack, resource: Resource, field: string): [string, FieldType][] {
  const { surface, resources } = pack;
  for (let each: Resource | undefined = resource; each; each = resources.get(each.extends ?? "")) {
    const fields = [...(surface?.objects.get(each.name) ?? [])];
    const found = fields.filter(
      ([name]) => name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`),
    );
    if (found.length > 0) return found;
  }
  return [];
}

/** What a reader should know of a field besides its type. */
function notes({ v4, loss }: FieldRule): Json {
  return { ...(v4 !== undefined && { "x-v4-field": v4 }), ...(loss !== undefined && { "x-loss": loss }) };
}

/** JSON Schema of one of alpha's objects: all of its fields, each with its place in v4 and its loss. */
export function describeObject(resource: Resource, pack: Pack): Json {
  const schema: Json = { type: "object" };
  const isObject = (name: string): boolean => pack.resources.has(name);
  for (const [field, rule] of resource.fields) {
    const types = typesOf(pack, resource, field);
    if (types.length === 0) put(schema, field.split("."), { ...ofRule(rule), ...notes(rule) }, false);
    for (const [name, type] of types)
      put(schema, name.split("."), { ...ofType(type, isObject), ...notes(rule) }, type.optional);
  }
  return schema;
}
