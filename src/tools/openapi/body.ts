import { isObject } from "../../dialect/json/parse.ts";
import type { Schema } from "../../mapping/compile/body-schema.ts";
import type { BodyRules } from "../../mapping/compile/body.ts";
import type { FieldRule } from "../../mapping/schema/definition.ts";

type Json = Record<string, unknown>;

const NOT_NULL = { not: { type: "null" } };

/** Members that have to be there, and not as null, which alpha takes for "not there". */
const given = (names: readonly string[]): Json => ({
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, NOT_NULL])),
});

const together = (name: string, rule: unknown): Json => ({ anyOf: [{ not: given([name]) }, rule] });

/** Rules that stand in schemas side by side. */
const rules = (schema: Json): Json[] => (Array.isArray(schema["allOf"]) ? (schema["allOf"] as Json[]) : []);

/**
 * A schema of the pack as JSON Schema alone: reasons become descriptions, and where the pack's rules are about
 * whether a member is there, null counts as not there (the gateway takes it out before it looks).
 */
function published(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(published);
  if (!isObject(schema)) return schema;
  const { reason, dependentRequired, dependentSchemas, required, ...rest } = schema;
  if (isObject(rest["not"]) && Object.keys(rest["not"]).length === 0) {
    return { type: "null", ...(reason !== undefined && { description: reason }) };
  }
  const made: Json = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => {
      if (key === "properties" && isObject(value))
        return [
          key,
          Object.fromEntries(Object.entries(value).map(([name, each]) => [name, published(each)])),
        ];
      return [key, key === "enum" || key === "const" ? value : published(value)];
    }),
  );
  if (typeof reason === "string") made["description"] = reason;
  const more = [
    ...(Array.isArray(required) && required.length > 0 ? [given(required as string[])] : []),
    ...Object.entries((dependentRequired ?? {}) as Json).map(([name, names]) =>
      together(name, given(names as string[])),
    ),
    ...Object.entries((dependentSchemas ?? {}) as Json).map(([name, rule]) =>
      together(name, published(rule)),
    ),
  ];
  if (more.length === 0) return made;
  const alone = Object.keys(made).length === 0 && more.length === 1;
  return alone ? more[0] : { ...made, allOf: [...rules(made), ...more] };
}

const orNull = (schema: unknown): unknown => ({ anyOf: [schema, { type: "null" }] });

/** Every member may be null: for one that must be there, the rules about that say otherwise. */
function withNulls(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(schema["properties"])) return schema;
  const members = Object.entries(schema["properties"]);
  return {
    ...schema,
    properties: Object.fromEntries(members.map(([name, member]) => [name, orNull(withNulls(member))])),
  };
}

/** The schema at a dotted place, changed. */
function changeAt(schema: Json, path: readonly string[], change: (member: unknown) => unknown): Json {
  const [name = "", ...deeper] = path;
  const properties = (schema["properties"] ?? {}) as Json;
  const member = properties[name];
  const changed = deeper.length === 0 ? change(member) : changeAt((member ?? {}) as Json, deeper, change);
  return { ...schema, properties: { ...properties, [name]: changed } };
}

const at = (schema: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (found, name) =>
      isObject(found) && isObject(found["properties"]) ? found["properties"][name] : undefined,
    schema,
  );

/** The forms that a value may have besides the documented one. */
function withForms(schema: unknown, { accepts = [] }: FieldRule, reference: string): unknown {
  if (accepts.length === 0) return schema;
  const whole = { type: "object", required: [reference], properties: { [reference]: {} } };
  const items = isObject(schema) && schema["items"];
  const described = items ? { ...(schema as Json), items: { anyOf: [items, whole] } } : schema;
  return {
    anyOf: [
      described,
      ...(accepts.includes("reference") && !items ? [whole] : []),
      ...(accepts.includes("json") ? [{ type: "string", contentMediaType: "application/json" }] : []),
    ],
  };
}

/** A member that must be there may be there by another of its names. */
function byAnyName(schema: Schema, names: ReadonlyMap<string, readonly string[]>): Json {
  const required = (schema["required"] ?? []) as string[];
  const known = (name: string): boolean => (names.get(name)?.length ?? 0) > 0;
  const choices = required
    .filter(known)
    .map((name) => ({ anyOf: [name, ...(names.get(name) ?? [])].map((each) => ({ required: [each] })) }));
  return {
    ...schema,
    required: required.filter((name) => !known(name)),
    ...(choices.length > 0 && { allOf: [...rules(schema), ...choices] }),
  };
}

/** JSON Schema (2020-12) of what clients may send: every name, form and null that the gateway takes. */
export function describeBody({ schema, members }: BodyRules, reference: string): Json {
  const spellings = new Map(
    members.map(
      ({ name, rule: { also = [] } }) => [name, also.filter((each) => !each.includes("."))] as const,
    ),
  );
  let described = byAnyName(schema, spellings);
  for (const { name, rule } of members) {
    const path = name.split(".");
    described = changeAt(described, path, (member) => withForms(member, rule, reference));
    for (const other of rule.also ?? [])
      described = changeAt(described, other.split("."), () => at(described, path));
  }
  return withNulls(published(described)) as Json;
}
