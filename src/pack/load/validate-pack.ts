/** Stage 2 of loading a pack: each file is validated against the schema of its kind. */
import { basename } from "node:path";
import type { z } from "zod";
import {
  type Diagnostic,
  keysAt,
  type RemovedParts,
  validateFile,
  type YamlPath,
  type YamlSource,
  withCode,
} from "../../base/index.ts";
import { acceptedDefinition, type AcceptedDifference } from "../schema/accepted-definition.ts";
import { fileSchema, type FileKind } from "../schema/file-schema.ts";
import {
  dialectDefinition,
  type DialectDefinition,
  type ValueKindDefinition,
  type ValueTable,
  type WrittenDialect,
} from "../schema/pack-definition.ts";
import { resourceDefinition, type ResourceDefinition } from "../schema/resource-definition.ts";
import { surfaceDefinition, type SurfaceDefinition } from "../routes/surface-definition.ts";

export const DIALECT_FILE = "pack.yaml";
export const SURFACE_FILE = "surface.yaml";
export const ACCEPTED_FILE = "accepted-differences.yaml";

/** A file of a pack, with its definition. */
export interface ValidatedFile<T> {
  readonly source: YamlSource;
  readonly definition: T;
}

/** The validated files of a pack. */
export interface ValidatedPack {
  readonly dialect: ValidatedFile<DialectDefinition> | undefined;
  readonly surface: ValidatedFile<SurfaceDefinition> | undefined;
  readonly accepted: ValidatedFile<readonly AcceptedDifference[]> | undefined;
  readonly resources: readonly ValidatedFile<ResourceDefinition>[];
  readonly removed: RemovedParts;
}

/** Stage 2. Validates each file against the schema of its kind. */
export function validatePack(
  directory: string,
  sources: readonly YamlSource[],
  diagnostics: Diagnostic[],
): ValidatedPack {
  const names = new Set<string>();
  const incomplete: { readonly source: YamlSource; readonly path: YamlPath }[] = [];
  function validate<T>(source: YamlSource | undefined, schema: z.ZodType<T>, kind: FileKind) {
    const definition =
      source &&
      validateFile(
        source,
        schema,
        () => fileSchema(kind),
        diagnostics,
        (path) => {
          for (const key of path.slice(-2)) names.add(String(key));
          // A map that lacks one of its fixed keys is incomplete. A map of arbitrary names only has one name less.
          const isNamed = keysAt(fileSchema(kind), path.slice(0, -1)).length === 0;
          incomplete.push({ source, path: isNamed ? path : path.slice(0, -1) });
        },
      );
    return source && definition ? { source, definition } : undefined;
  }
  const findFile = (name: string) => sources.find(({ file }) => basename(file) === name);
  const [dialectFile, surfaceFile, acceptedFile] = [DIALECT_FILE, SURFACE_FILE, ACCEPTED_FILE].map(findFile);
  if (!dialectFile)
    diagnostics.push({
      file: directory,
      line: 1,
      column: 1,
      code: "missing-file",
      message: `there is no ${DIALECT_FILE} in this folder`,
    });
  const resourceFiles = sources.filter(
    (source) => ![dialectFile, surfaceFile, acceptedFile].includes(source),
  );
  const dialect = validate(dialectFile, dialectDefinition, "pack");
  return {
    dialect: dialect && {
      ...dialect,
      definition: readTables(dialect.definition, dialect.source, diagnostics),
    },
    surface: validate(surfaceFile, surfaceDefinition, "surface"),
    accepted: validate(acceptedFile, acceptedDefinition, "accepted-differences"),
    resources: resourceFiles.flatMap((source) => validate(source, resourceDefinition, "resource") ?? []),
    removed: {
      names,
      isIncomplete: (source, path) =>
        incomplete.some(
          (part) =>
            part.source === source &&
            part.path.length > 0 &&
            part.path.every((key, index) => key === path[index]),
        ),
    },
  };
}

/**
 * Restores the YAML types of the keys of value tables, such as numbers and booleans, because the keys of an object are
 * always texts.
 *
 * @param diagnostics receives the diagnostics of keys that equal no value
 */
function readTables(
  definition: WrittenDialect,
  source: YamlSource,
  diagnostics: Diagnostic[],
): DialectDefinition {
  function readTable(path: YamlPath, side: Readonly<Record<string, unknown>>): ValueTable {
    const report = (key: string, message: string): void =>
      void diagnostics.push(source.keyDiagnosticAt([...path, key], withCode(message, "invalid-value")));
    const keys = new Map([...(source.mapAt(path)?.keys() ?? [])].map((key) => [String(key ?? ""), key]));
    return Object.entries(side).map(([text, value]) => {
      const key = keys.get(text);
      if (key === null) report(text, 'null is not translated: use "default" of the field');
      if (typeof key !== "number" && typeof key !== "boolean") return [text, value];
      if (typeof key === "number" && !(Math.abs(key) <= Number.MAX_SAFE_INTEGER))
        report(text, "this number can't be compared exactly");
      return [key, value];
    });
  }
  const values = Object.entries(definition.values).map(([name, { read, write, ...kind }]) => {
    const sides = Object.entries({ read, write }).flatMap(([side, written]) =>
      written === undefined
        ? []
        : [[side, typeof written === "object" ? readTable(["values", name, side], written) : written]],
    );
    return [name, { ...kind, ...Object.fromEntries(sides) }] as [string, ValueKindDefinition];
  });
  return { ...definition, values: Object.fromEntries(values) };
}
