/** The members in a JSON Schema, and functions that add or remove members of a schema. */
import { isObject } from "../../base/index.ts";
import type { JsonObject } from "../translation-context.ts";

/**
 * A JSON Schema of a pack. The format `ip` is an IPv4 or IPv6 address. Any subschema may have a `message`: clients get
 * this text instead of the default.
 */
export type Schema = Readonly<Record<string, unknown>>;

/** Limits for schemas that define none. */
export const DEFAULT_LIMITS = { maxItems: 5000, maxProperties: 1000, maxLength: 65_535 };

/** Returns the keys of a JSON pointer (RFC 6901). */
export const keysOfPointer = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));

/** Whether a schema allows a type by its keyword `type`. */
export const hasType = ({ type }: Schema, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name));

/** Returns the schema of a member. If it is not an object, such as `true`, returns a schema that allows everything. */
export const schemaOf = (member: unknown): Schema => (isObject(member) ? member : {});

/** Whether one of several schemas, or each of them, allows null. True if there are no schemas. */
const someOrAll = (schemas: unknown, which: "some" | "every"): boolean =>
  !Array.isArray(schemas) || schemas[which]((each) => allowsNull(each));

/** Whether a schema allows null. A schema with only a reference or a condition does not. */
export function allowsNull(schema: unknown): boolean {
  if (!isObject(schema)) return schema === true;
  const { type, anyOf, oneOf, allOf } = schema;
  if (["$ref", "not", "if"].some((keyword) => keyword in schema)) return hasType(schema, "null");
  return (
    (type === undefined || hasType(schema, "null")) &&
    (!("const" in schema) || schema["const"] === null) &&
    (!Array.isArray(schema["enum"]) || schema["enum"].includes(null)) &&
    someOrAll(anyOf, "some") &&
    someOrAll(oneOf, "some") &&
    someOrAll(allOf, "every")
  );
}

/** Merges the schema of a body with those of its parts. */
export function mergeSchemas(schema: Schema, parts: readonly { readonly schema: Schema }[]): Schema {
  if (parts.length === 0) return schema;
  const { properties, allOf = [], ...rest } = schema;
  const rules = parts.map(({ schema: { properties: _members, ...rule } }) => rule);
  const members: JsonObject = Object.assign(
    {},
    ...parts.map((part) => part.schema["properties"]),
    properties,
  );
  return { ...rest, properties: members, allOf: [allOf, rules].flat() };
}

/** Turns a string of digits into a number, because real clients send such integers (T-2.5). */
function readDigits(value: unknown): unknown {
  if (typeof value !== "string" || value.length > 32 || !/^\d+$/.test(value)) return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * Makes all members that a schema does not name invalid, even in nested objects.
 *
 * @param membersOf Returns the members of the nested object with a dotted name, if the schema does not define them
 */
export function closeSchema(
  schema: Schema,
  membersOf: (name: string) => Schema | undefined,
  prefix = "",
): Schema {
  const { properties, items, additionalProperties } = schema;
  if (isObject(items)) return { ...schema, items: closeSchema(items, membersOf, prefix) };
  if (additionalProperties !== undefined) return schema;
  if (!isObject(properties)) return { ...membersOf(prefix), ...schema };
  const closed = Object.entries(properties).map(([name, member]) => [
    name,
    isObject(member) ? closeSchema(member, membersOf, prefix === "" ? name : `${prefix}.${name}`) : member,
  ]);
  return { ...schema, properties: Object.fromEntries(closed), additionalProperties: false };
}

/** Whether a schema allows integers but no strings. */
const takesDigits = (schema: Schema): boolean => hasType(schema, "integer") && !hasType(schema, "string");

/**
 * Compiles a function that removes everything from a body that its schema does not name. Alpha ignores unknown members.
 * Null means "not given" and is removed, unless the schema allows null. With `additionalProperties: false`, unknown
 * members remain, and are reported as errors. A string of digits becomes an integer if the schema expects one.
 */
export function compilePruning(schema: Schema): (value: unknown) => unknown {
  const { properties, items } = schema;
  const read = takesDigits(schema) ? readDigits : (value: unknown) => value;
  if (isObject(items)) {
    const prune = compilePruning(items);
    const most = typeof schema["maxItems"] === "number" ? schema["maxItems"] : DEFAULT_LIMITS.maxItems;
    // The schema later rejects a list that is too long.
    return (value) => (Array.isArray(value) && value.length <= most ? value.map(prune) : read(value));
  }
  if (!isObject(properties)) return read;
  const members = Object.entries(properties).map(([name, member]) => ({
    name,
    prune: compilePruning(schemaOf(member)),
    nullable: allowsNull(member),
  }));
  return (value) => {
    if (!isObject(value)) return read(value);
    const pruned: JsonObject = schema["additionalProperties"] === false ? { ...value } : {};
    for (const { name, prune, nullable } of members) {
      if (!Object.hasOwn(value, name)) continue;
      if (value[name] === null && !nullable) delete pruned[name];
      else pruned[name] = prune(value[name]);
    }
    return pruned;
  };
}

/**
 * Returns the dotted names of the members of a schema: the deepest ones that have a rule, otherwise its leaves. If both
 * a member and a nested member have rules, the outer rule only names the field of errors.
 *
 * @param hasRule Whether the resource has a rule with this name.
 */
export function schemaMembers(schema: Schema, hasRule: (name: string) => boolean, prefix = ""): string[] {
  const properties = schema["properties"];
  if (!isObject(properties)) return prefix ? [prefix] : [];
  // A name with a dot is reported as a problem of the schema.
  const found = Object.entries(properties).filter(([name]) => !name.includes("."));
  return found.flatMap(([name, member]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const below = schemaMembers(schemaOf(member), hasRule, path);
    return hasRule(path) && !below.some((deeper) => deeper !== path && hasRule(deeper)) ? [path] : below;
  });
}

/** Returns the schema of a member, by its dotted name. */
export const schemaAt = (schema: Schema, name: string): Schema =>
  name.split(".").reduce<Schema>((outer, key) => {
    const { properties } = outer;
    const member = isObject(properties) ? properties[key] : undefined;
    return isObject(member) ? member : {};
  }, schema);
