import { isDeepStrictEqual } from "node:util";
import { buildPack, parsePack, readPack, type PackFiles } from "../mapping/load/load-pack.ts";
import type { Pack } from "../mapping/pack.ts";
import type { Settings } from "../config/schema.ts";
import { plannedBrownOuts } from "./brown-out-schedule.ts";
import { packFolder } from "./pack-folder.ts";

/** A pack, and the files that it was made of. */
export interface LoadedPack {
  readonly files: PackFiles;
  readonly pack: Pack;
}

type PackSettings = Pick<Settings, "MAPPINGS_DIR" | "WORDS">;

/** The files of the pack that the settings name. @throws {PackError} */
export const readPackOf = ({ MAPPINGS_DIR }: PackSettings): PackFiles => readPack(packFolder(MAPPINGS_DIR));

/** Makes a pack of files, in the service's words. @throws {PackError} */
export const loadFiles = (files: PackFiles, { WORDS }: Pick<Settings, "WORDS">): LoadedPack => ({
  files,
  pack: buildPack(parsePack(files), WORDS),
});

/** Sections of the dialect by which tokens are known, which outlive every pack. */
const LASTING = ["scopes", "oauth", "statuses"] as const;

/** @throws {Error} where a pack can't take the place of the one in use without a new start */
export function assertReplaces(next: Pack, inUse: Pack, settings: Settings): void {
  const changed = LASTING.filter((name) => !isDeepStrictEqual(next.dialect[name], inUse.dialect[name]));
  if (changed.length > 0)
    throw new Error(`pack.yaml: ${changed.join(", ")} can change with a new start alone`);
  plannedBrownOuts(settings, next);
}
