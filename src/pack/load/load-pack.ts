import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { z } from "zod";
import {
  createRenamer,
  type Diagnostic,
  errorText,
  formatDiagnosticLine,
  keysAt,
  locationIn,
  MAX_DIAGNOSTICS,
  PackError,
  parseYaml,
  type ProductWords,
  readYamlTexts,
  type RemovedParts,
  renameDeep,
  scopeRenaming,
  type ScopeRenaming,
  validateFile,
  type YamlPath,
  type YamlSource,
  type YamlText,
} from "../../base/index.ts";
import { compilePack } from "./compile-pack.ts";
import type { LocatedFile } from "./resource-files.ts";
import { dialectDefinition, type DialectDefinition } from "../schema/pack-definition.ts";
import { acceptedDefinition, type AcceptedDifference } from "../schema/accepted-definition.ts";
import { resourceDefinition, type ResourceDefinition } from "../schema/resource-definition.ts";
import type { Pack } from "../pack.ts";
import { runSteps, type Steps } from "../steps.ts";
import { fileSchema, type FileKind } from "../schema/file-schema.ts";
import { readTables } from "./value-tables.ts";
import { reportUnused } from "./unused.ts";
import { compileAcceptedDifferences } from "./accepted-differences.ts";
import { compileApiSurface, findCoverageGaps } from "../routes/api-surface.ts";
import { surfaceDefinition, type SurfaceDefinition } from "../routes/surface-definition.ts";

export const DIALECT_FILE = "pack.yaml";
export const SURFACE_FILE = "surface.yaml";
export const ACCEPTED_FILE = "accepted-differences.yaml";

/**
 * From YAML to functions, in four stages:
 *
 * 1. {@link parsePack}: text → data with source locations
 * 2. {@link validatePack}: data → checked definitions
 * 3. {@link renameWords}: definitions in the pack's words → definitions in the service's words
 * 4. {@link compileDefinitions}: definitions → functions
 *
 * Every stage adds its diagnostics to one list, so that the author sees all of them at once, up to 50.
 */

/** The files of a pack as text: plain data, which can be sent to another process. */
export interface PackFiles {
  readonly directory: string;
  readonly files: readonly YamlText[];
}

/** Reads the YAML files of a folder. @throws {PackError} If the folder can't be read, or its files are too large. */
export function readPack(directory: string): PackFiles {
  try {
    return { directory, files: readYamlTexts(directory) };
  } catch (error) {
    if (error instanceof PackError) throw error;
    throw new PackError([
      {
        file: directory,
        line: 1,
        column: 1,
        code: "unreadable",
        message: `can't be read: ${errorText(error)}`,
      },
    ]);
  }
}

/** The files of a pack, parsed but not validated. */
export interface PackSources {
  readonly directory: string;
  readonly sources: readonly YamlSource[];
  /** Of the names and texts of the files. */
  readonly hash: string;
}

const hashOf = (content: unknown): string =>
  createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 16);

/** Identifies the files of a pack by their names and texts. */
export const hashOfFiles = ({ files }: PackFiles): string =>
  hashOf(files.map(({ file, text }) => [basename(file), text]));

/** Stage 1. Parses the files of a pack. Never throws: syntax errors are diagnostics of the sources. */
export const parsePack = (pack: PackFiles): PackSources => ({
  directory: pack.directory,
  sources: pack.files.map(({ file, text }) => parseYaml(file, text)),
  hash: hashOfFiles(pack),
});

interface ValidatedFile<T> {
  readonly source: YamlSource;
  readonly definition: T;
}

/** The files of a pack, validated. */
export interface ValidatedPack {
  readonly dialect: ValidatedFile<DialectDefinition> | undefined;
  readonly surface: ValidatedFile<SurfaceDefinition> | undefined;
  readonly accepted: ValidatedFile<readonly AcceptedDifference[]> | undefined;
  readonly resources: readonly ValidatedFile<ResourceDefinition>[];
  readonly removed: RemovedParts;
}

/** Stage 2. Validates each file against the schema of its kind. */
function validatePack({ directory, sources }: PackSources, diagnostics: Diagnostic[]): ValidatedPack {
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
          // A map without one of its keys is incomplete. A map of names has just one name less.
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

/** Stage 3. Renames the product words of a pack, and the scope words where a scope or an event action is named. */
export function renameWords(pack: ValidatedPack, words: ProductWords): ValidatedPack {
  if (!isRenaming(words)) return pack;
  const { dialect, surface, accepted, resources, removed } = pack;
  const scopeWords = dialect?.definition.scope_words ?? [];
  const rename = createRenamer(words, scopeWords);
  const scopes = scopeRenaming(words, scopeWords);
  return {
    removed,
    dialect: dialect && {
      ...dialect,
      definition: renameDeep(renameScopes(dialect.definition, scopes), rename),
    },
    surface: surface && { ...surface, definition: renameDeep(surface.definition, rename) },
    accepted: accepted && { ...accepted, definition: renameDeep(accepted.definition, rename) },
    resources: resources.map((file) => ({
      ...file,
      definition: renameDeep(renameRouteScopes(file.definition, scopes), rename),
    })),
  };
}

/** Renames scope words in `scopes` and in value tables. */
function renameScopes(definition: DialectDefinition, rename: ScopeRenaming): DialectDefinition {
  const renameTable = <T>(values: T): T =>
    typeof values === "string" ? values : renameDeep(values, rename.actions);
  const values = Object.entries(definition.values).map(([name, kind]) => {
    const { same, read, write } = kind;
    const words = { ...(same && { same }), ...(read && { read }), ...(write && { write }) };
    const renamed = Object.entries(words).map(([key, value]) => [key, renameTable(value)] as const);
    return [name, { ...kind, ...Object.fromEntries(renamed) }] as const;
  });
  return {
    ...definition,
    scopes: renameDeep(definition.scopes, rename.scopes),
    values: Object.fromEntries(values),
  };
}

/** Renames scope words in the scopes and conditions of routes. */
function renameRouteScopes(definition: ResourceDefinition, rename: ScopeRenaming): ResourceDefinition {
  if (!definition.routes) return definition;
  const routes = definition.routes.map((route) => ({
    ...route,
    ...(route.scope !== undefined && { scope: rename.scopes(route.scope) }),
    ...(route.where && { where: renameDeep(route.where, rename.actions) }),
  }));
  return { ...definition, routes };
}

/** Stage 4. Compiles the definitions, and compares the pack with its API surface. */
export function* compileDefinitions(
  { dialect, surface, accepted, resources, removed }: ValidatedPack,
  diagnostics: Diagnostic[],
): Steps<Omit<Pack, "hash"> | undefined> {
  if (!dialect) return undefined;
  const locate = <T>(file: ValidatedFile<T>, list = diagnostics): LocatedFile<T> => ({
    definition: file.definition,
    location: locationIn(file.source, list, removed),
  });
  const compiled = yield* compilePack(
    locate(dialect),
    resources.map((file) => locate(file)),
  );
  const pack = accepted
    ? { ...compiled, acceptedDifferences: compileAcceptedDifferences(locate(accepted), compiled) }
    : compiled;
  const findUnused = (): Diagnostic[] => {
    const unused: Diagnostic[] = [];
    reportUnused(
      locate(dialect, unused),
      resources.map((file) => locate(file, unused)),
    );
    return unused;
  };
  if (!surface) return { ...pack, gaps: () => ({ ...pack.gaps(), unused: findUnused() }) };
  const { definition, location } = locate(surface);
  const gaps = () => ({
    ...findCoverageGaps(definition, pack, (list) => locate(surface, list).location),
    unused: findUnused(),
  });
  return { ...pack, surface: compileApiSurface(definition, pack, location), gaps };
}

/** Reports objects of the same name. Everything that refers to one of them would be reported, too. */
function reportDuplicateObjects({ resources }: ValidatedPack, diagnostics: Diagnostic[]): boolean {
  const first = new Map<string, string>();
  const before = diagnostics.length;
  for (const { definition, source } of resources) {
    const { object } = definition;
    const other = first.get(object);
    if (other === undefined) first.set(object, basename(source.file));
    else diagnostics.push(source.diagnosticAt(["object"], `${other} has the object "${object}" already`));
  }
  return diagnostics.length > before;
}

/** The first diagnostics, each once: several translations of a field find the same problem. */
const firstOf = (diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  [...new Map(diagnostics.map((each) => [formatDiagnosticLine(each), each])).values()].slice(
    0,
    MAX_DIAGNOSTICS,
  );

/**
 * Validates, renames and compiles a parsed pack.
 *
 * The pack is compiled first in its own words, so that diagnostics name what the author sees, and then again in the
 * service's words if these differ.
 *
 * @param words The service's word for each product word of the pack.
 * @throws {PackError} With every diagnostic, each with file, line and column.
 */
export const buildPack = (parsed: PackSources, words: ProductWords = {}): Pack =>
  buildValidPack(parsed, words).pack;

/** Validates, renames and compiles a parsed pack. @throws {PackError} With the diagnostics. */
export function buildValidPack(
  parsed: PackSources,
  words: ProductWords,
): { readonly pack: Pack; readonly validated: ValidatedPack } {
  const diagnostics: Diagnostic[] = [];
  const validated = validatePack(parsed, diagnostics);
  // A reference to a file that is invalid would be reported as a second problem.
  const others = [validated.dialect, validated.surface, validated.accepted].filter(Boolean);
  const isComplete = validated.resources.length + others.length >= parsed.sources.length;
  const hasDuplicates = reportDuplicateObjects(validated, diagnostics);
  const pack =
    isComplete && !hasDuplicates ? runSteps(compileDefinitions(validated, diagnostics)) : undefined;
  if (diagnostics.length > 0 || !pack) throw new PackError(firstOf(diagnostics));
  const renamed = isRenaming(words)
    ? (runSteps(compileDefinitions(renameWords(validated, words), [])) ?? pack)
    : pack;
  return { pack: { ...renamed, hash: renamedHash(parsed.hash, words) }, validated };
}

const isRenaming = (words: ProductWords): boolean => Object.entries(words).some(([from, to]) => from !== to);

/** Identifies a pack in the words of a service. */
export const renamedHash = (hash: string, words: ProductWords): string =>
  isRenaming(words) ? hashOf([hash, words]) : hash;

/**
 * Loads the pack of a folder: reads, parses, validates, renames and compiles it.
 *
 * @throws {PackError} With every diagnostic, each with file, line and column.
 */
export const loadPack = (directory: string, words: ProductWords = {}): Pack =>
  buildPack(parsePack(readPack(directory)), words);
