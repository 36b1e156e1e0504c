/** What `check` reports about small packs. */
import { PackError } from "../../src/base/files/diagnostic.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { writeSmallPack, type SmallPack } from "./small-pack.ts";

/** The diagnostics of a pack with their hints, in one line each; empty for a valid pack. */
export function faultsOfSmallPack(pack: SmallPack): readonly string[] {
  const folder = writeSmallPack(pack);
  try {
    loadPack(folder);
    return [];
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    return error.diagnostics.map(({ message, hint }) =>
      hint === undefined ? message : `${message}; ${hint}`,
    );
  } finally {
  }
}
