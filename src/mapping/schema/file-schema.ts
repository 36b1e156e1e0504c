/** The shape of a pack's files as JSON Schema (2020-12): editors complete from it, and hints name its keys. */
import { z } from "zod";
import { dialectDefinition, field, resourceDefinition } from "./definition.ts";
import { surfaceDefinition } from "./surface-definition.ts";

type Json = Readonly<Record<string, unknown>>;

/** A field may be written short: `label: label`. */
function asJsonSchema(definition: z.ZodType): Json {
  return z.toJSONSchema(definition, {
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema !== field) return;
      const rule = { ...jsonSchema };
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      jsonSchema.anyOf = [{ type: "string", minLength: 1 }, rule];
    },
  });
}

const FILES = { pack: dialectDefinition, resource: resourceDefinition, surface: surfaceDefinition } as const;

export type FileKind = keyof typeof FILES;
export const FILE_KINDS = Object.keys(FILES) as readonly FileKind[];

/** Made when someone asks: a pack without faults needs none. */
const made = new Map<FileKind, Json>();

/** The schema of a kind of file. */
export function fileSchema(kind: FileKind): Json {
  const schema = made.get(kind) ?? asJsonSchema(FILES[kind]);
  made.set(kind, schema);
  return schema;
}

const isSchema = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** The schemas of one member of what a schema describes. */
function member(schema: Json, key: PropertyKey): Json[] {
  const branches = [...((schema["anyOf"] as Json[] | undefined) ?? []), schema];
  return branches.flatMap(({ properties, additionalProperties, items }) => {
    const named = (properties as Json | undefined)?.[String(key)];
    return [named, typeof key === "number" ? items : additionalProperties].filter(isSchema);
  });
}

/** The keys that may stand in the map at a path of a file. */
export function keysAt(schema: Json, path: readonly PropertyKey[]): string[] {
  const reached = path.reduce<Json[]>(
    (schemas, key) => schemas.flatMap((each) => member(each, key)),
    [schema],
  );
  const maps = reached.flatMap((each) => [...((each["anyOf"] as Json[] | undefined) ?? []), each]);
  return [...new Set(maps.flatMap(({ properties }) => Object.keys((properties as Json | undefined) ?? {})))];
}
