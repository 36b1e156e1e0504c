import { basename } from "node:path";
import type { z } from "zod";
import { renameDeep, renaming, type Words } from "../vocabulary/words.ts";
import { compilePack, type Located } from "./compile.ts";
import {
  dialectDefinition,
  resourceDefinition,
  type DialectDefinition,
  type ResourceDefinition,
} from "./definition.ts";
import { PackError, type PackFault } from "./fault.ts";
import type { Pack } from "./pack.ts";
import { placeIn } from "./place.ts";
import { readYamlFolder, type YamlSource } from "./source.ts";

const DIALECT_FILE = "pack.yaml";

interface Shaped {
  readonly dialect: { readonly source: YamlSource; readonly definition: DialectDefinition } | undefined;
  readonly resources: readonly { readonly source: YamlSource; readonly definition: ResourceDefinition }[];
}

/** Checks one file's shape; faults go to the list. */
function shape<T>(source: YamlSource, schema: z.ZodType<T>, faults: PackFault[]): T | undefined {
  faults.push(...source.faults);
  if (source.faults.length > 0) return undefined;
  const result = schema.safeParse(source.data);
  if (result.success) return result.data;
  for (const issue of result.error.issues) {
    if (issue.code !== "unrecognized_keys") faults.push(source.fault(issue.path, issue.message));
    else
      for (const key of issue.keys)
        faults.push(source.keyFault([...issue.path, key], `unknown key "${key}"`));
  }
  return undefined;
}

function shapeAll(sources: readonly YamlSource[], directory: string, faults: PackFault[]): Shaped {
  const main = sources.find(({ file }) => basename(file) === DIALECT_FILE);
  if (!main)
    faults.push({
      file: directory,
      line: 1,
      column: 1,
      message: `there is no ${DIALECT_FILE} in this folder`,
    });
  const dialect = main && shape(main, dialectDefinition, faults);
  const resources = sources.flatMap((source) => {
    const definition = source === main ? undefined : shape(source, resourceDefinition, faults);
    return definition ? [{ source, definition }] : [];
  });
  return { dialect: main && dialect ? { source: main, definition: dialect } : undefined, resources };
}

/** Compiles what is shaped right, in the words given; faults go to the list. */
function compileShaped({ dialect, resources }: Shaped, words: Words, faults: PackFault[]): Pack | undefined {
  if (!dialect) return undefined;
  const rename = renaming(words);
  const locate = <T>(file: { source: YamlSource; definition: T }): Located<T> => ({
    definition: renameDeep(file.definition, rename),
    place: placeIn(file.source, faults),
  });
  return compilePack(locate(dialect), resources.map(locate));
}

/**
 * Reads, checks and compiles the pack in a folder.
 *
 * It is checked in the words it is written in, so that faults name what the author sees, and then compiled
 * once more in the service's words where these differ.
 *
 * @throws {PackError} with every fault, each with file, line and column.
 */
export function loadPack(directory: string, words: Words = {}): Pack {
  const faults: PackFault[] = [];
  let sources: YamlSource[] = [];
  try {
    sources = readYamlFolder(directory);
  } catch (error) {
    throw new PackError([
      { file: directory, line: 1, column: 1, message: `can't be read: ${(error as Error).message}` },
    ]);
  }
  const shaped = shapeAll(sources, directory, faults);
  const neutral = compileShaped(shaped, {}, faults);
  if (faults.length > 0 || !neutral) throw new PackError(faults);
  const renamed = Object.entries(words).some(([from, to]) => from !== to);
  return renamed ? (compileShaped(shaped, words, []) ?? neutral) : neutral;
}
