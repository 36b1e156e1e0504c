/** Schemas of objects inside a body, whose members are fields of the pack. */
import { isObject } from "../../base/index.ts";
import type { FieldContext } from "../fields/field-context.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { JsonObject } from "../translation-context.ts";
import { compileSetter } from "../values/member-paths.ts";
import { closeSchema, schemaMembers, type Schema } from "../values/schema-members.ts";

/** The members of a nested object's schema that no field of that object maps to v4. */
export function unmappedMembers(
  { object, write }: FieldRule,
  schema: Schema,
  { resources }: Pick<FieldContext, "resources">,
): string[] {
  const definition = resources.get(object ?? "")?.definition;
  const { items, properties } = schema;
  if (!definition || write !== undefined) return [];
  if (isObject(items)) return unmappedMembers({ object }, items, { resources });
  if (!isObject(properties)) return [];
  const rules = new Map([...Object.entries(definition.fields), ...Object.entries(definition.inputs ?? {})]);
  return schemaMembers(schema, (name) => rules.has(name)).filter(
    (name) => rules.get(name)?.upstream === undefined && rules.get(name)?.send !== false,
  );
}

/** A schema that allows only the fields of a nested object, or of the items of a list; undefined for other members. */
export function nestedSchema(
  { object = "", write }: FieldRule,
  { resources }: Pick<FieldContext, "resources">,
  parents: readonly string[] = [],
): Schema | undefined {
  const definition = parents.includes(object) ? undefined : resources.get(object)?.definition;
  if (!definition || write !== undefined) return undefined;
  const top: JsonObject = {};
  for (const [name, rule] of Object.entries({ ...definition.fields, ...definition.inputs }))
    compileSetter(`properties.${name.replaceAll(".", ".properties.")}`)(top, {
      ...nestedSchema(rule, { resources }, [...parents, object]),
    });
  const closed = closeSchema(top, () => undefined);
  return { ...closed, items: closed };
}
