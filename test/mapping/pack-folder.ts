import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PackError, type PackFault } from "../../src/mapping/fault.ts";
import { loadPack } from "../../src/mapping/load.ts";

const LIBRARY = "test/fixtures/library-pack";

/** One change of a pack's file: the first text is replaced with the second. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Loads the library's pack with changes in it; gives its faults, files by their names alone. */
export function faultsOf(...edits: readonly Edit[]): PackFault[] {
  const folder = mkdtempSync(join(tmpdir(), "pack-"));
  try {
    cpSync(LIBRARY, folder, { recursive: true });
    for (const { file, from, to } of edits) {
      const text = readFileSync(join(folder, file), "utf8");
      if (!text.includes(from)) throw new Error(`${file} has no "${from}"`);
      writeFileSync(
        join(folder, file),
        text.replace(from, () => to),
      );
    }
    loadPack(folder);
    return [];
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    return error.faults.map((fault) => ({ ...fault, file: fault.file.slice(folder.length + 1) }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
