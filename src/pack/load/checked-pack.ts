/** Builds packs, even from files that another thread has parsed and validated. */
import { basename } from "node:path";
import { checkedYaml, NOTHING_REMOVED, type ProductWords } from "../../base/index.ts";
import type { Pack } from "./pack.ts";
import type { Steps } from "../steps.ts";
import { buildValidPack, compileDefinitions, hashPack, type PackFiles } from "./load-pack.ts";
import { renameWords } from "./rename-words.ts";
import { ACCEPTED_FILE, DIALECT_FILE, SURFACE_FILE, type ValidatedPack } from "./validate-pack.ts";

/** The parts of a valid file that are sent to another thread for compilation, as plain data. */
interface CheckedFile {
  readonly definition: unknown;
  /** See `YamlSource.lines`. */
  readonly lines: readonly (readonly [path: string, line: number])[];
}

/** The files of a valid pack by name. */
export type CheckedPack = Readonly<Record<string, CheckedFile>>;

/** Restores the definitions of a checked pack, with sources that are only parsed if a message needs their lines. */
function restore({ files }: PackFiles, checked: CheckedPack): ValidatedPack {
  const validated = files.map((text) => {
    const { definition, lines = [] } = checked[basename(text.file)] ?? {};
    return { source: checkedYaml(text, new Map(lines)), definition };
  });
  const find = (name: string) => validated.find(({ source }) => basename(source.file) === name);
  const [dialect, surface, accepted] = [DIALECT_FILE, SURFACE_FILE, ACCEPTED_FILE].map(find);
  const resources = validated.filter((file) => ![dialect, surface, accepted].includes(file));
  return { dialect, surface, accepted, resources, removed: NOTHING_REMOVED } as ValidatedPack;
}

/** Converts validated files to plain data. */
function toChecked({ dialect, surface, accepted, resources }: ValidatedPack): CheckedPack {
  const all = [...resources, dialect, surface, accepted].filter((file) => file !== undefined);
  return Object.fromEntries(
    all.map(({ source, definition }) => [basename(source.file), { definition, lines: [...source.lines] }]),
  );
}

/**
 * Parses, validates and renames a pack, and compiles it to find all problems.
 *
 * @returns The definitions in the service's words, for {@link compileChecked}.
 * @throws {PackError} with the diagnostics, each with file, line and column
 */
export const checkFiles = (files: PackFiles, words: ProductWords): CheckedPack =>
  toChecked(renameWords(buildValidPack(files, words).validated, words));

/** Compiles what {@link checkFiles} returned. Yields between its steps. */
export function* compileChecked(files: PackFiles, checked: CheckedPack, words: ProductWords): Steps<Pack> {
  const compiled = yield* compileDefinitions(restore(files, checked), []);
  if (!compiled) throw new Error(`the pack has no ${DIALECT_FILE}`);
  return { ...compiled, hash: hashPack(files, words) };
}

/** Parses and builds a pack. @throws {PackError} With the diagnostics, each with file, line and column. */
export const buildFiles = (files: PackFiles, words: ProductWords = {}): Pack =>
  buildValidPack(files, words).pack;
