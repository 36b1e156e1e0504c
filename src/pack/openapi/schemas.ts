import type { BodyRules } from "../bodies/body.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { FieldType } from "../routes/surface-definition.ts";
import type { Pack } from "../load/pack.ts";
import type { Resource } from "../routes/resource.ts";
import { nestedObject } from "../routes/response-fields.ts";
import { schemaAt, type Schema } from "../values/schema-members.ts";
import { DATE_TIME } from "../fields/keys/format.ts";
import { describeValue } from "../fields/keys/field-keys.ts";
import { isObject } from "../../base/index.ts";

export type Json = Record<string, unknown>;

/** Returns a reference to the schema of an object. */
export const objectRef = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** Returns a schema, or a choice of several. */
export const anyOf = (schemas: readonly Json[]): Json =>
  schemas.length === 1 ? (schemas[0] ?? {}) : { anyOf: schemas };

const orNull = (schema: unknown): Json => ({ anyOf: [schema, { type: "null" }] });

/** Returns the schema of a type of the API surface. */
function describeType({ name, lists, nullable }: FieldType, isObject: (name: string) => boolean): Json {
  const plain = name === "any" ? {} : name === "date-time" ? DATE_TIME : { type: name };
  let schema: Json = isObject(name) ? objectRef(name) : plain;
  for (let list = 0; list < lists; list += 1) schema = { type: "array", items: schema };
  return nullable ? orNull(schema) : schema;
}

/** Returns the schema of a field according to its rule, for packs without an API surface. */
function describeRule(rule: FieldRule): Json {
  if (rule.const !== undefined) return { const: rule.const };
  const name = nestedObject(rule);
  const one = name === undefined ? undefined : objectRef(name);
  const described = describeValue(rule, one);
  if (described) return described;
  return one ? orNull({ anyOf: [one, { type: "array", items: one }] }) : {};
}

/** Adds a schema at a path: `a.b` in the object `a`, `a[].b` in each item of the list `a`. */
function addAt(target: Json, path: string, schema: Json, isOptional: boolean): void {
  const [step = "", ...deeper] = path.split(".");
  const name = step.replaceAll("[]", "");
  target["type"] = "object";
  const properties = (target["properties"] ??= {}) as Json;
  const required = (target["required"] ??= []) as string[];
  if (!required.includes(name) && (deeper.length > 0 || !isOptional)) required.push(name);
  if (deeper.length === 0) {
    properties[name] = { ...(properties[name] as Json | undefined), ...schema };
    return;
  }
  const isList = step.endsWith("[]");
  const member = (properties[name] ??= isList ? { type: "array", items: {} } : {}) as Json;
  addAt((isList ? member["items"] : member) as Json, deeper.join("."), schema, isOptional);
}

/** Returns the types of the API surface for a field and its members. */
function findTypes({ surface, resources }: Pack, resource: Resource, field: string): [string, FieldType][] {
  for (let base: Resource | undefined = resource; base; base = resources.get(base.extends ?? "")) {
    const found = [...(surface?.objects.get(base.name) ?? [])].filter(
      ([name]) => name === field || name.startsWith(`${field}.`) || name.startsWith(`${field}[`),
    );
    if (found.length > 0) return found;
  }
  return [];
}

/** Returns the name of an OpenAPI extension about the upstream, such as `x-v4-field` for a dialect named v4. */
export const extensionName = ({ dialect }: Pack, what: string): string =>
  `x-${dialect.upstream.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-${what}`;

/** Returns the JSON Schema of an alpha object: its fields with their v4 fields and losses. */
export function describeObject(resource: Resource, pack: Pack): Json {
  const schema: Json = { type: "object" };
  const isObject = (name: string): boolean => pack.resources.has(name);
  for (const [field, rule] of resource.fields) {
    const mapping = {
      ...(rule.upstream !== undefined && { [extensionName(pack, "field")]: rule.upstream }),
      ...(rule.loss !== undefined && { "x-loss": rule.loss }),
    };
    const types = findTypes(pack, resource, field);
    for (const [name, type] of types)
      addAt(schema, name, { ...describeType(type, isObject), ...mapping }, type.optional);
    if (types.length > 0) continue;
    const isOptional = rule.omit_null ?? pack.dialect.client.responses.omit_null;
    addAt(schema, field, { ...describeRule(rule), ...mapping }, isOptional);
  }
  return schema;
}

const NOT_NULL = { not: { type: "null" } };

/** Requires members that are not null: alpha treats null as missing. */
const requireMembers = (names: readonly string[]): Json => ({
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, NOT_NULL])),
});

const ifPresent = (name: string, rule: unknown): Json => ({ anyOf: [{ not: requireMembers([name]) }, rule] });

const allOfRules = (schema: Json): Json[] =>
  Array.isArray(schema["allOf"]) ? (schema["allOf"] as Json[]) : [];

/** Converts a map of schemas to plain JSON Schema. */
const toPlainSchemas = (schemas: Json): Json =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toPlainSchema(schema)]));

/**
 * Converts a schema of the pack to plain JSON Schema. Messages become descriptions. Rules about missing members treat
 * null as missing, because the gateway removes it before validation.
 */
function toPlainSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(toPlainSchema);
  if (!isObject(schema)) return schema;
  const { message: reason, dependentRequired, dependentSchemas, required, ...rest } = schema;
  const description = typeof reason === "string" && { description: reason };
  if (isObject(rest["not"]) && Object.keys(rest["not"]).length === 0) return { type: "null", ...description };
  const members = Object.entries(rest).map(([key, value]) => {
    if (key === "properties" && isObject(value)) return [key, toPlainSchemas(value)];
    return [key, key === "enum" || key === "const" ? value : toPlainSchema(value)];
  });
  const plain: Json = { ...Object.fromEntries(members), ...description };
  const rules = [
    ...(Array.isArray(required) && required.length > 0 ? [requireMembers(required as string[])] : []),
    ...Object.entries((dependentRequired ?? {}) as Json).map(([name, names]) =>
      ifPresent(name, requireMembers(names as string[])),
    ),
    ...Object.entries((dependentSchemas ?? {}) as Json).map(([name, rule]) =>
      ifPresent(name, toPlainSchema(rule)),
    ),
  ];
  if (rules.length === 0) return plain;
  const isOnlyRule = Object.keys(plain).length === 0 && rules.length === 1;
  return isOnlyRule ? rules[0] : { ...plain, allOf: [...allOfRules(plain), ...rules] };
}

/** Accepts null for each member. The rules about required members still exclude it. */
function acceptNulls(schema: unknown): unknown {
  if (!isObject(schema) || !isObject(schema["properties"])) return schema;
  const members = Object.entries(schema["properties"]);
  return {
    ...schema,
    properties: Object.fromEntries(members.map(([name, member]) => [name, orNull(acceptNulls(member))])),
  };
}

/** Changes the schema at a path. */
function changeAt(schema: Json, path: readonly string[], change: (member: unknown) => unknown): Json {
  const [name = "", ...deeper] = path;
  const properties = (schema["properties"] ?? {}) as Json;
  const member = properties[name];
  const changed = deeper.length === 0 ? change(member) : changeAt((member ?? {}) as Json, deeper, change);
  return { ...schema, properties: { ...properties, [name]: changed } };
}

/** Accepts the other forms of a value. */
function acceptForms(schema: unknown, { accepts = [] }: FieldRule, reference: string): unknown {
  if (accepts.length === 0) return schema;
  const referenceObject = { type: "object", required: [reference], properties: { [reference]: {} } };
  const items = isObject(schema) && schema["items"];
  const described = items ? { ...(schema as Json), items: { anyOf: [items, referenceObject] } } : schema;
  return {
    anyOf: [
      described,
      ...(accepts.includes("object") && !items ? [referenceObject] : []),
      ...(accepts.includes("json") ? [{ type: "string", contentMediaType: "application/json" }] : []),
    ],
  };
}

/** Accepts a required member under each of its names. */
function acceptAliases(schema: Schema, names: ReadonlyMap<string, readonly string[]>): Json {
  const required = (schema["required"] ?? []) as string[];
  const hasAliases = (name: string): boolean => (names.get(name)?.length ?? 0) > 0;
  const choices = required
    .filter(hasAliases)
    .map((name) => ({ anyOf: [name, ...(names.get(name) ?? [])].map((alias) => ({ required: [alias] })) }));
  return {
    ...schema,
    required: required.filter((name) => !hasAliases(name)),
    ...(choices.length > 0 && { allOf: [...allOfRules(schema), ...choices] }),
  };
}

/** Returns the JSON Schema (2020-12) of a request body, with all names, forms and nulls that the gateway accepts. */
export function describeBody({ schema, members, isList }: BodyRules, reference: string): Json {
  const aliases = new Map(
    members.map(
      ({ name, rule: { aliases: also = [] } }) =>
        [name, also.filter((alias) => !alias.includes("."))] as const,
    ),
  );
  let described = acceptAliases(schema, aliases);
  for (const { name, rule } of members) {
    const path = name.split(".");
    described = changeAt(described, path, (member) => acceptForms(member, rule, reference));
    for (const alias of rule.aliases ?? [])
      described = changeAt(described, alias.split("."), () => schemaAt(described, name));
  }
  const object = acceptNulls(toPlainSchema(described)) as Json;
  return isList ? { type: "array", items: object } : object;
}
