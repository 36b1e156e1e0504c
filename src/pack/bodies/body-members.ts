/** The members of a body: the ones that are sent to the upstream, and the translation of their values. */
import type { PartDefinition } from "../schema/pack-definition.ts";
import type { PathParameterDefinitions } from "../paths/path-definition.ts";
import type { BodyDefinition } from "../schema/resource-definition.ts";
import { isObject, resolveReference, type SourceLocation } from "../../base/index.ts";
import type { Steps } from "../steps.ts";
import type { JsonObject } from "../translation-context.ts";
import type { FormMember } from "./body-forms.ts";
import { validSchema } from "./body-schema.ts";
import type { FieldContext } from "../fields/field-context.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import { compileWrite, type WritableMember } from "../fields/write.ts";
import { compileGetter, compileRemover, compileSetter } from "../values/member-paths.ts";
import { closeSchema, schemaAt, schemaMembers, type Schema } from "../values/schema-members.ts";

/** A member of a body, identified by its dotted name. */
export interface BodyMember {
  readonly name: string;
  readonly get: (body: unknown) => unknown;
  readonly remove: (body: JsonObject) => void;
}

/** A member of a translated body whose value is sent in the path. */
export interface PathMember extends Pick<BodyMember, "get" | "remove"> {
  /** The name that clients use. */
  readonly field: string;
}

/** A member of a body that is sent to the upstream. */
export interface SentMember extends BodyMember, FormMember, Pick<WritableMember, "write"> {
  readonly putV4: NonNullable<WritableMember["putV4"]>;
}

/** A shared part of `pack.yaml` with a valid schema. */
export interface Part extends Pick<PartDefinition, "inputs"> {
  readonly schema: Schema;
  readonly members: ReadonlyMap<string, WritableMember>;
}

/** Compiles a shared part. */
export function* compilePart(
  part: PartDefinition,
  context: FieldContext,
  location: SourceLocation,
): Steps<Part> {
  const locationOf = (name: string) => location.at("inputs", name).ofField(name);
  return {
    inputs: part.inputs,
    schema: validSchema(part.schema, location.at("schema")),
    members: yield* compileWrite(new Map(Object.entries(part.inputs)), context, locationOf),
  };
}

/** Definitions that bodies may refer to. */
export interface BodyContext extends FieldContext {
  readonly parts: ReadonlyMap<string, Part>;
  /** The parameters of the pack and of the resource. */
  readonly pathParameters: PathParameterDefinitions;
  /** `error_fields` of the resource. */
  readonly errorNames?: Readonly<Record<string, string>> | undefined;
}

/** Returns the shared parts that a body uses. Reports unknown names. */
export const findParts = (
  { parts = [] }: BodyDefinition,
  context: BodyContext,
  location: SourceLocation,
): Part[] =>
  parts.flatMap(
    (name, index) => resolveReference(location.at("parts", index), "part", name, context.parts) ?? [],
  );

/**
 * Compiles the members of a body's schema. Reports members that are not mapped to the upstream.
 *
 * @param schema The schema of one object, including the members of shared parts.
 * @param find Returns the translation of a member by its dotted name.
 * @param location The location of the schema.
 */
export function compileSentMembers(
  schema: Schema,
  find: (name: string) => WritableMember | undefined,
  context: BodyContext,
  location: SourceLocation,
): SentMember[] {
  const reportUnmapped = (name: string) =>
    location.report({
      message: `"${name}" is in the schema, but no field or input maps it to the upstream`,
      hint: "if only expressions read it: an input with send: false; if it is a query parameter of the upstream: an input that to_path names, and ?name={name} in the route's upstream",
    });
  const names = schemaMembers(schema, (member) => find(member) !== undefined);
  const members = names.flatMap((name): SentMember[] => {
    const { rule, write, putV4 } = find(name) ?? {};
    const [get, remove, put] = [compileGetter(name), compileRemover(name), compileSetter(name)];
    if (write && rule?.send === false)
      return [{ name, get, remove, put, putV4: () => undefined, rule, write: () => undefined }];
    if (!write || !rule || !putV4) {
      reportUnmapped(name);
      return [];
    }
    return [{ name, get, remove, put, putV4, rule, write }];
  });
  for (const { name, rule } of members)
    for (const member of unmappedMembers(rule, schemaAt(schema, name), context))
      reportUnmapped(`${name}.${member}`);
  return members;
}

/** Compiles the members whose values are sent in the path, by path parameter. */
export function compilePathMembers(
  { to_path: toPath = {} }: BodyDefinition,
  members: readonly SentMember[],
  location: SourceLocation,
): Map<string, PathMember> {
  return new Map(
    Object.entries(toPath).map(([parameter, member]) => {
      const field = members.find(({ rule }) => rule.upstream === member)?.name;
      if (field === undefined)
        location.at("to_path", parameter).report(`no member of the body is sent as "${member}"`);
      return [
        parameter,
        { field: field ?? member, get: compileGetter(member), remove: compileRemover(member) },
      ];
    }),
  );
}

/** Returns the members in a nested object's schema that no field of that object maps to v4. */
function unmappedMembers(
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

/** Returns a schema that only allows the fields of a nested object, or of the items of a list; undefined for other members. */
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
