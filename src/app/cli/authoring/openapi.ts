import { describePack, loadPack, packFolder } from "../../../pack/index.ts";
import type { Settings } from "../../../base/index.ts";
import { print } from "../terminal.ts";

/** The version of the description. It changes with the pack, not with the program. */
const VERSION = "1";

/** Runs `alpha-gateway openapi`. @returns the exit code */
export function openapi({ MAPPINGS_DIR, WORDS }: Pick<Settings, "MAPPINGS_DIR" | "WORDS">): number {
  const pack = loadPack(packFolder(MAPPINGS_DIR), WORDS);
  print(`${JSON.stringify(describePack(pack, VERSION), null, 2)}\n`);
  return 0;
}
