/** Loads packs as the settings say. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { buildFiles, readPack, type PackCache, type PackFiles } from "../mapping/load/load-pack.ts";
import type { Pack } from "../mapping/pack.ts";
import { scheduleBrownOuts, type BrownOuts } from "../pipeline/brown-outs/brown-outs.ts";
import { SettingsError } from "../config/settings.ts";
import type { Settings } from "../config/setting-definitions.ts";

/** A pack, and the files that it was compiled from. */
export interface LoadedPack {
  readonly files: PackFiles;
  readonly pack: Pack;
}

/** The pack that the program ships with: next to `src/` in a checkout, next to `dist/` in a package. */
const BUNDLED_PACK = join(import.meta.dirname, "..", "..", "mappings");

/** The folder of the mapping pack: the given one, `./mappings` if it exists, else the bundled one. */
export const packFolder = (given: string | undefined): string =>
  given ?? (existsSync("mappings") ? "mappings" : BUNDLED_PACK);

/** Reads the files of the pack that the settings name. @throws {PackError} If the folder can't be read. */
export const readPackFiles = ({ MAPPINGS_DIR }: Pick<Settings, "MAPPINGS_DIR">): PackFiles =>
  readPack(packFolder(MAPPINGS_DIR));

/** Compiles the files of a pack, in the product words of the settings. @throws {PackError} If they are invalid. */
export const loadFiles = (
  files: PackFiles,
  { WORDS }: Pick<Settings, "WORDS">,
  cache?: PackCache,
): LoadedPack => ({ files, pack: buildFiles(files, WORDS, cache) });

/**
 * Schedules the brown-outs of the settings.
 *
 * @throws {SettingsError} If one names a route that the pack does not have: nobody would notice that it never happens.
 */
export function schedulePackBrownOuts(
  { BROWN_OUTS = [] }: Pick<Settings, "BROWN_OUTS">,
  pack: Pack,
): BrownOuts {
  const unknown = BROWN_OUTS.flatMap(({ routes }) => routes).filter((name) => !pack.route(name));
  if (unknown.length > 0)
    throw new SettingsError(unknown.map((name) => `BROWN_OUTS: the pack has no route "${name}"`));
  return scheduleBrownOuts(BROWN_OUTS);
}
