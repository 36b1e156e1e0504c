/** Loads packs according to the settings. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { buildFiles, compileChecked } from "./checked-pack.ts";
import { hashPack, readPack, type PackFiles } from "./load-pack.ts";
import type { Pack } from "./pack.ts";
import { runInSlices } from "../steps.ts";
import { errorText, formatDiagnosticLine, isObserving, PackError, type Settings } from "../../base/index.ts";
import { checkInThread } from "./pack-check.ts";

/** A pack, and the files that it was compiled from. */
export interface LoadedPack {
  readonly files: PackFiles;
  readonly pack: Pack;
}

/** The pack that is included in the program: next to `src/` in a checkout, next to `dist/` in a package. */
const BUNDLED_PACK = join(import.meta.dirname, "..", "..", "..", "mappings");

type PackSettings = Parameters<typeof isObserving>[0];

/** The folder of the mapping pack: the given one, otherwise `./mappings` if it exists, otherwise the bundled pack. */
export const packFolder = (given: string | undefined): string =>
  given ?? (existsSync("mappings") ? "mappings" : BUNDLED_PACK);

/** The pack of an observing gateway: no routes, and errors in plain JSON. */
const OBSERVED_PACK: PackFiles = {
  directory: "",
  files: [
    { file: "pack.yaml", text: "format: 2\nclient: { name: old API }\nupstream: { name: old service }\n" },
  ],
};

/** Reads the files of the pack that the settings name. @throws {PackError} If the folder can't be read. */
export const readPackFiles = (settings: PackSettings): PackFiles =>
  isObserving(settings) ? OBSERVED_PACK : readPack(packFolder(settings.MAPPINGS_DIR));

/** The hash of the pack that results from these files. */
export const packHash = (files: PackFiles, { WORDS }: Pick<Settings, "WORDS">): string =>
  hashPack(files, WORDS);

/** Compiles the files of a pack, in the product words of the settings. @throws {PackError} If they are invalid. */
export const loadFiles = (files: PackFiles, { WORDS }: Pick<Settings, "WORDS">): LoadedPack => ({
  files,
  pack: buildFiles(files, WORDS),
});

/**
 * Compiles the files of a pack while requests are served: another thread parses and validates them, and they are
 * compiled in slices.
 *
 * @param signal Ends the compilation, because its result is no longer needed.
 * @throws {PackError} if the files are invalid, {Error} if the check was ended
 */
export async function loadFilesInBackground(
  files: PackFiles,
  { WORDS: words }: Pick<Settings, "WORDS">,
  signal: AbortSignal,
): Promise<LoadedPack> {
  const checked = await checkInThread({ files, words }, signal);
  return { files, pack: await runInSlices(compileChecked(files, checked, words)) };
}

/** Returns only locations and messages: the log must not contain lines of pack files. */
export const describeProblems = (error: unknown): readonly string[] =>
  error instanceof PackError ? error.diagnostics.map(formatDiagnosticLine) : [errorText(error)];

/** Sections of the dialect that stored tokens depend on. */
const FIXED_SECTIONS = ["scopes", "oauth"] as const;

/** @throws {Error} If a pack can only replace the active one with a restart. */
export function assertReplaceable(next: Pack, active: Pack): void {
  const changed = FIXED_SECTIONS.filter(
    (name) => !isDeepStrictEqual(next.dialect[name], active.dialect[name]),
  );
  if (changed.length > 0) throw new Error(`pack.yaml: ${changed.join(", ")} can only change with a restart`);
}
