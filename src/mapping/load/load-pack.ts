import { basename } from "node:path";
import {
  renameDeep,
  createRenamer,
  scopeRenaming,
  type ScopeRenaming,
  type ProductWords,
} from "../../config/product-words.ts";
import { compilePack, type LocatedFile } from "../compile/compile-pack.ts";
import {
  dialectDefinition,
  resourceDefinition,
  type DialectDefinition,
  type ResourceDefinition,
} from "../schema/definition.ts";
import { PackError, type Diagnostic } from "./diagnostic.ts";
import type { Pack } from "../pack.ts";
import { fileSchema } from "../schema/file-schema.ts";
import { locationIn } from "./source-location.ts";
import { validateFile } from "./validate-file.ts";
import { parseYaml, readYamlTexts, type YamlSource, type YamlText } from "./yaml-source.ts";
import { compileApiSurface, findCoverageGaps } from "../compile/api-surface.ts";
import { surfaceDefinition, type SurfaceDefinition } from "../schema/surface-definition.ts";

const DIALECT_FILE = "pack.yaml";
const SURFACE_FILE = "surface.yaml";

interface ShapedFile<T> {
  readonly source: YamlSource;
  readonly definition: T;
}

interface Shaped {
  readonly dialect: ShapedFile<DialectDefinition> | undefined;
  readonly surface: ShapedFile<SurfaceDefinition> | undefined;
  readonly resources: readonly ShapedFile<ResourceDefinition>[];
}

function shapeAll({ directory, sources }: PackSources, faults: Diagnostic[]): Shaped {
  const named = (name: string) => sources.find(({ file }) => basename(file) === name);
  const [main, surfaceFile] = [named(DIALECT_FILE), named(SURFACE_FILE)];
  if (!main)
    faults.push({
      file: directory,
      line: 1,
      column: 1,
      message: `there is no ${DIALECT_FILE} in this folder`,
    });
  const dialect = main && validateFile(main, dialectDefinition, () => fileSchema("pack"), faults);
  const surface =
    surfaceFile && validateFile(surfaceFile, surfaceDefinition, () => fileSchema("surface"), faults);
  const resources = sources.flatMap((source) => {
    if (source === main || source === surfaceFile) return [];
    const definition = validateFile(source, resourceDefinition, () => fileSchema("resource"), faults);
    return definition ? [{ source, definition }] : [];
  });
  return {
    dialect: main && dialect ? { source: main, definition: dialect } : undefined,
    surface: surfaceFile && surface ? { source: surfaceFile, definition: surface } : undefined,
    resources,
  };
}

/** Renames the words of scope areas and event actions: in `scopes`, and in tables of values. */
function renameScopes(definition: DialectDefinition, rename: ScopeRenaming): DialectDefinition {
  const table = <T>(values: T): T =>
    typeof values === "string" ? values : renameDeep(values, rename.actions);
  const values = Object.entries(definition.values).map(([name, kind]) => {
    const { same, read, write } = kind;
    const words = { ...(same && { same }), ...(read && { read }), ...(write && { write }) };
    const renamed = Object.entries(words).map(([key, value]) => [key, table(value)] as const);
    return [name, { ...kind, ...Object.fromEntries(renamed) }] as const;
  });
  return {
    ...definition,
    scopes: renameDeep(definition.scopes, rename.scopes),
    values: Object.fromEntries(values),
  };
}

/** Renames the words of scope areas and event actions: in the scopes and the conditions of routes. */
function renameRouteScopes(definition: ResourceDefinition, rename: ScopeRenaming): ResourceDefinition {
  if (!definition.routes) return definition;
  const routes = definition.routes.map((route) => ({
    ...route,
    scope: rename.scopes(route.scope),
    ...(route.where && { where: renameDeep(route.where, rename.actions) }),
  }));
  return { ...definition, routes };
}

/** Compiles what is shaped right, in the words given; faults go to the list. */
function compileShaped(shaped: Shaped, words: ProductWords, faults: Diagnostic[]): Pack | undefined {
  const { dialect, surface, resources } = shaped;
  if (!dialect) return undefined;
  const scopeWords = dialect.definition.scope_words ?? [];
  const rename = createRenamer(words, scopeWords);
  const inScopes = scopeRenaming(words, scopeWords);
  const locate = <T>(file: ShapedFile<T>, found = faults): LocatedFile<T> => ({
    definition: renameDeep(file.definition, rename),
    location: locationIn(file.source, found),
  });
  const pack = compilePack(
    locate({ ...dialect, definition: renameScopes(dialect.definition, inScopes) }),
    resources.map((file) => locate({ ...file, definition: renameRouteScopes(file.definition, inScopes) })),
  );
  if (!surface) return pack;
  const { definition, location } = locate(surface);
  const gaps = findCoverageGaps(definition, pack, (found) => locate(surface, found).location);
  return { ...pack, surface: compileApiSurface(definition, location), gaps };
}

/** The files of a pack as they are written: plain data, which another process can be given. */
export interface PackFiles {
  readonly directory: string;
  readonly files: readonly YamlText[];
}

/** Reads the files of the pack in a folder. @throws {PackError} where it can't be read. */
export function readPack(directory: string): PackFiles {
  try {
    return { directory, files: readYamlTexts(directory) };
  } catch (error) {
    throw new PackError([
      { file: directory, line: 1, column: 1, message: `can't be read: ${(error as Error).message}` },
    ]);
  }
}

/** The files of a pack, each parsed, whatever it says. */
export interface PackSources {
  readonly directory: string;
  readonly sources: readonly YamlSource[];
}

/** Parses the files of a pack; never throws. */
export const parsePack = ({ directory, files }: PackFiles): PackSources => ({
  directory,
  sources: files.map(({ file, text }) => parseYaml(file, text)),
});

/**
 * Checks and compiles a pack.
 *
 * It is checked in the words it is written in, so that faults name what the author sees, and then compiled
 * once more in the service's words where these differ.
 *
 * @throws {PackError} with every fault, each with file, line and column.
 */
export function buildPack({ directory, sources }: PackSources, words: ProductWords = {}): Pack {
  const faults: Diagnostic[] = [];
  const shaped = shapeAll({ directory, sources }, faults);
  // Whatever refers to a file that is lost would be told as a fault of its own.
  const complete = shaped.resources.length + Number(!!shaped.surface) + 1 >= sources.length;
  const neutral = complete ? compileShaped(shaped, {}, faults) : undefined;
  if (faults.length > 0 || !neutral) throw new PackError(faults);
  const renamed = Object.entries(words).some(([from, to]) => from !== to);
  return renamed ? (compileShaped(shaped, words, []) ?? neutral) : neutral;
}

/** Reads, parses, checks and compiles the pack in a folder, in the words given. @throws {PackError} as these do. */
export const loadPack = (directory: string, words: ProductWords = {}): Pack =>
  buildPack(parsePack(readPack(directory)), words);
