import { createHash } from "node:crypto";
import { basename } from "node:path";
import {
  type Diagnostic,
  errorText,
  formatDiagnosticLine,
  locationIn,
  MAX_DIAGNOSTICS,
  PackError,
  parseYaml,
  type ProductWords,
  readYamlTexts,
  type YamlText,
} from "../../base/index.ts";
import { compilePack, type Pack } from "./pack.ts";
import { splitObjects, type LocatedFile } from "./resource-files.ts";
import { runSteps, type Steps } from "../steps.ts";
import { SCOPE_VARIABLES } from "../expressions/scope.ts";
import { checkFunctions } from "../expressions/pack-functions.ts";
import { withShared } from "./shared-definitions.ts";
import { reportUnused } from "./unused.ts";
import { isRenaming, renameWords } from "./rename-words.ts";
import { type ValidatedFile, type ValidatedPack, validatePack } from "./validate-pack.ts";
import { compileAcceptedDifferences } from "./accepted-differences.ts";
import { compileApiSurface, findCoverageGaps } from "../routes/api-surface.ts";

/**
 * From YAML to functions, in four stages:
 *
 * 1. `parseYaml`: text → data with source locations
 * 2. {@link validatePack}: data → checked definitions
 * 3. {@link renameWords}: definitions in the pack's words → definitions in the service's words
 * 4. {@link compileDefinitions}: definitions → functions
 *
 * Every stage adds its diagnostics to one list, so that the author gets up to 50 of them in one run.
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

const hashOf = (content: unknown): string =>
  createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 16);

/** Identifies a pack in the words of a service, by the names and texts of its files. */
export function hashPack({ files }: PackFiles, words: ProductWords): string {
  const hash = hashOf(files.map(({ file, text }) => [basename(file), text]));
  return isRenaming(words) ? hashOf([hash, words]) : hash;
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
  const shared = dialect.definition;
  checkFunctions(shared.functions, SCOPE_VARIABLES, locate(dialect).location.at("functions"));
  const compiled = yield* compilePack(
    withShared(locate(dialect), shared),
    resources.flatMap((file) => splitObjects(withShared(locate(file), shared))),
  );
  const acceptedDifferences = accepted ? compileAcceptedDifferences(locate(accepted), compiled) : [];
  const findUnused = (): Diagnostic[] => {
    const unused: Diagnostic[] = [];
    reportUnused(
      locate(dialect, unused),
      resources.flatMap((file) => splitObjects(locate(file, unused))),
    );
    return unused;
  };
  const findUnmapped = () =>
    surface
      ? findCoverageGaps(surface.definition, compiled, (list) => locate(surface, list).location)
      : { unmappedFields: [], unmappedRoutes: [] };
  return {
    ...compiled,
    acceptedDifferences,
    surface: surface && compileApiSurface(surface.definition, compiled, locate(surface).location),
    gaps: () => ({ ...findUnmapped(), unused: findUnused() }),
  };
}

/** Reports objects with the same name. Otherwise every reference to one of them would be reported as well. */
function reportDuplicateObjects({ resources }: ValidatedPack, diagnostics: Diagnostic[]): boolean {
  const first = new Map<string, string>();
  const before = diagnostics.length;
  for (const { definition, source } of resources) {
    const inner = Object.keys(definition.objects ?? {}).map((name) => [name, ["objects", name]] as const);
    for (const [object, path] of [[definition.object, ["object"]] as const, ...inner]) {
      const other = first.get(object);
      if (other === undefined) first.set(object, basename(source.file));
      else diagnostics.push(source.diagnosticAt(path, `${other} has the object "${object}" already`));
    }
  }
  return diagnostics.length > before;
}

/** Returns the first diagnostics without duplicates: several translations of a field find the same problem. */
const firstOf = (diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  [...new Map(diagnostics.map((each) => [formatDiagnosticLine(each), each])).values()].slice(
    0,
    MAX_DIAGNOSTICS,
  );

/**
 * Parses, validates, renames and compiles a pack.
 *
 * The pack is first compiled in its own words, so that diagnostics use the author's words. It is compiled again in the
 * service's words if they differ.
 *
 * @param words The service's word for each product word of the pack.
 * @throws {PackError} with every diagnostic, each with file, line and column.
 */
export function buildValidPack(
  files: PackFiles,
  words: ProductWords,
): { readonly pack: Pack; readonly validated: ValidatedPack } {
  const diagnostics: Diagnostic[] = [];
  const sources = files.files.map(({ file, text }) => parseYaml(file, text));
  const validated = validatePack(files.directory, sources, diagnostics);
  // Otherwise a reference to an invalid file would be reported as a second problem.
  const others = [validated.dialect, validated.surface, validated.accepted].filter(Boolean);
  const isComplete = validated.resources.length + others.length >= sources.length;
  const hasDuplicates = reportDuplicateObjects(validated, diagnostics);
  const pack =
    isComplete && !hasDuplicates ? runSteps(compileDefinitions(validated, diagnostics)) : undefined;
  if (diagnostics.length > 0 || !pack) throw new PackError(firstOf(diagnostics));
  const renamed = isRenaming(words)
    ? (runSteps(compileDefinitions(renameWords(validated, words), [])) ?? pack)
    : pack;
  return { pack: { ...renamed, hash: hashPack(files, words) }, validated };
}

/**
 * Loads the pack of a folder: reads, parses, validates, renames and compiles it.
 *
 * @throws {PackError} With every diagnostic, each with file, line and column.
 */
export const loadPack = (directory: string, words: ProductWords = {}): Pack =>
  buildValidPack(readPack(directory), words).pack;
