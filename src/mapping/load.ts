import { basename } from "node:path";
import { renameDeep, renaming, scopeRenaming, type ScopeRenaming, type Words } from "../vocabulary/words.ts";
import { compilePack, type Located } from "./compile.ts";
import {
  dialectDefinition,
  resourceDefinition,
  type DialectDefinition,
  type ResourceDefinition,
} from "./definition.ts";
import { PackError, type PackFault } from "./fault.ts";
import type { Pack } from "./pack.ts";
import { fileSchema } from "./file-schema.ts";
import { placeIn } from "./place.ts";
import { shape } from "./shape.ts";
import { parseYaml, readYamlTexts, type YamlSource, type YamlText } from "./source.ts";
import { compileSurface, findGaps } from "./surface.ts";
import { surfaceDefinition, type SurfaceDefinition } from "./surface-definition.ts";

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

function shapeAll({ directory, sources }: PackSources, faults: PackFault[]): Shaped {
  const named = (name: string) => sources.find(({ file }) => basename(file) === name);
  const [main, surfaceFile] = [named(DIALECT_FILE), named(SURFACE_FILE)];
  if (!main)
    faults.push({
      file: directory,
      line: 1,
      column: 1,
      message: `there is no ${DIALECT_FILE} in this folder`,
    });
  const dialect = main && shape(main, dialectDefinition, () => fileSchema("pack"), faults);
  const surface = surfaceFile && shape(surfaceFile, surfaceDefinition, () => fileSchema("surface"), faults);
  const resources = sources.flatMap((source) => {
    if (source === main || source === surfaceFile) return [];
    const definition = shape(source, resourceDefinition, () => fileSchema("resource"), faults);
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
function compileShaped(shaped: Shaped, words: Words, faults: PackFault[]): Pack | undefined {
  const { dialect, surface, resources } = shaped;
  if (!dialect) return undefined;
  const scopeWords = dialect.definition.scope_words ?? [];
  const rename = renaming(words, scopeWords);
  const inScopes = scopeRenaming(words, scopeWords);
  const locate = <T>(file: ShapedFile<T>, found = faults): Located<T> => ({
    definition: renameDeep(file.definition, rename),
    place: placeIn(file.source, found),
  });
  const pack = compilePack(
    locate({ ...dialect, definition: renameScopes(dialect.definition, inScopes) }),
    resources.map((file) => locate({ ...file, definition: renameRouteScopes(file.definition, inScopes) })),
  );
  if (!surface) return pack;
  const { definition, place } = locate(surface);
  const gaps = findGaps(definition, pack, (found) => locate(surface, found).place);
  return { ...pack, surface: compileSurface(definition, place), gaps };
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
export function makePack({ directory, sources }: PackSources, words: Words = {}): Pack {
  const faults: PackFault[] = [];
  const shaped = shapeAll({ directory, sources }, faults);
  // Whatever refers to a file that is lost would be told as a fault of its own.
  const complete = shaped.resources.length + Number(!!shaped.surface) + 1 >= sources.length;
  const neutral = complete ? compileShaped(shaped, {}, faults) : undefined;
  if (faults.length > 0 || !neutral) throw new PackError(faults);
  const renamed = Object.entries(words).some(([from, to]) => from !== to);
  return renamed ? (compileShaped(shaped, words, []) ?? neutral) : neutral;
}

/** Reads, parses, checks and compiles the pack in a folder, in the words given. @throws {PackError} as these do. */
export const loadPack = (directory: string, words: Words = {}): Pack =>
  makePack(parsePack(readPack(directory)), words);
