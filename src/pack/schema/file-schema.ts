/** The formats of a pack's files as JSON Schema (2020-12), for completion in editors and for hints with valid keys. */
import { z } from "zod";
import { acceptedDefinition } from "./accepted-definition.ts";
import { requestHeader, responseHeader } from "../headers/headers-definition.ts";
import { field } from "../fields/field-definition.ts";
import { errorCode } from "../errors/errors-definition.ts";
import { dialectDefinition } from "./pack-definition.ts";
import { parameter } from "../parameters/parameter-definition.ts";
import { resourceDefinition } from "./resource-definition.ts";
import { surfaceDefinition } from "../routes/surface-definition.ts";
import type { Json } from "../../base/index.ts";

/** Schemas of values that support the short form `label: label`. */
const SHORT_FORMS: ReadonlySet<unknown> = new Set([
  errorCode,
  field,
  parameter,
  requestHeader,
  responseHeader,
]);

/** Converts a zod schema. */
function asJsonSchema(definition: z.ZodType): Json {
  return z.toJSONSchema(definition, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      // zod drops the examples of keys that support a short form.
      const { examples } = z.globalRegistry.get(zodSchema) ?? {};
      if (examples) jsonSchema.examples = examples as z.core.JSONSchema._JSONSchema[];
      if (!SHORT_FORMS.has(zodSchema)) return;
      const rule = { ...jsonSchema };
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      jsonSchema.anyOf = [{ type: "string", minLength: 1 }, rule];
    },
  });
}

const FILES = {
  pack: dialectDefinition,
  resource: resourceDefinition,
  surface: surfaceDefinition,
  "accepted-differences": acceptedDefinition,
} as const;

/** The kinds of files in a pack. */
export type FileKind = keyof typeof FILES;
/** All kinds of files in a pack. */
export const FILE_KINDS = Object.keys(FILES) as readonly FileKind[];

/** The schemas are created on demand, because a valid pack does not need them. */
const schemas = new Map<FileKind, Json>();

/** Returns the JSON Schema of a kind of file. */
export function fileSchema(kind: FileKind): Json {
  const schema = schemas.get(kind) ?? asJsonSchema(FILES[kind]);
  schemas.set(kind, schema);
  return schema;
}
