/** The resource files of a pack before they are compiled. */
import { resolveReference, type SourceLocation } from "../../base/index.ts";
import type { FieldRule } from "../fields/field-definition.ts";
import type { DialectDefinition } from "../schema/pack-definition.ts";
import type { ResourceDefinition } from "../schema/resource-definition.ts";

/** A validated file of a pack, and the location for its diagnostics. */
export interface LocatedFile<T> {
  readonly definition: T;
  readonly location: SourceLocation;
}

/** Moves each small object of a file to a file of its own. The first result is the rest of the file. */
export function splitObjects({
  definition,
  location,
}: LocatedFile<ResourceDefinition>): LocatedFile<ResourceDefinition>[] {
  const { objects = {}, ...file } = definition;
  const inner = Object.entries(objects).map(([object, keys]) => ({
    definition: { object, ...keys },
    location: location.at("objects", object),
  }));
  return [{ definition: file, location }, ...inner];
}

/** The location of a file. The given fields belong to a different file, which reports their diagnostics. */
const withFieldsOf = (
  names: readonly string[],
  base: SourceLocation,
  location: SourceLocation,
): SourceLocation =>
  Object.assign(Object.create(location) as SourceLocation, {
    at: (...keys: PropertyKey[]) =>
      keys[0] === "fields" && names.includes(String(keys[1]))
        ? base.at(...keys).with({ isSilent: true })
        : location.at(...keys),
  });

/** Adds the fields of the base object to files that extend it. They come before their own fields. */
export function inheritFields(
  files: readonly LocatedFile<ResourceDefinition>[],
): LocatedFile<ResourceDefinition>[] {
  const objects = new Map(files.map((file) => [file.definition.object, file]));
  return files.map(({ definition, location }) => {
    if (definition.extends === undefined) return { definition, location };
    const at = location.at("extends");
    const baseFile = resolveReference(at, "object", definition.extends, objects);
    const base = baseFile?.definition;
    if (base?.extends !== undefined) at.report(`"${base.object}" extends another object itself`);
    const inherited = Object.keys(base?.fields ?? {}).filter(
      (name) => !Object.hasOwn(definition.fields, name),
    );
    return {
      definition: { ...definition, fields: { ...base?.fields, ...definition.fields } },
      location: baseFile ? withFieldsOf(inherited, baseFile.location, location) : location,
    };
  });
}

/** The loss of a field if its value kind rejects the values that its table does not have. */
const UNKNOWN_VALUE = "a value that the table does not have";

/** Adds the loss of unknown values to fields that do not define a loss. */
export function addUnknownLosses(
  { definition, location }: LocatedFile<ResourceDefinition>,
  kinds: DialectDefinition["values"],
): LocatedFile<ResourceDefinition> {
  const fields = Object.entries(definition.fields).map(([name, rule]) => {
    const { unknown, read } = kinds[rule.values ?? ""] ?? {};
    const isLossy = unknown === "reject" && typeof read !== "string" && rule.read === undefined;
    return [name, isLossy ? { loss: UNKNOWN_VALUE, ...rule } : rule];
  });
  return { definition: { ...definition, fields: Object.fromEntries(fields) }, location };
}

/** Returns the names of all arguments that fields of the pack pass to a value kind. */
export function argumentsOf(kind: string, resources: readonly LocatedFile<ResourceDefinition>[]): string[] {
  const rules = resources.flatMap(({ definition: { fields, inputs = {} } }): FieldRule[] => [
    ...Object.values(fields),
    ...Object.values(inputs),
  ]);
  return [
    ...new Set(
      rules.filter(({ values }) => values === kind).flatMap((rule) => Object.keys(rule.arguments ?? {})),
    ),
  ];
}
