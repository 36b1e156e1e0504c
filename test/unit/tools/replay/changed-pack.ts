import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One change of a file of the pack: the first text is replaced with the second. */
export interface PackEdit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Copies the pack with changes in it, hands its folder over, and takes it away again. */
export async function withChangedPack<T>(
  edits: readonly PackEdit[],
  use: (folder: string) => T | Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "changed-pack-"));
  try {
    // The golden cases are of no matter here, and many.
    cpSync("mappings", folder, { recursive: true, filter: (path) => !path.startsWith("mappings/examples") });
    for (const { file, from, to } of edits) {
      const text = readFileSync(join(folder, file), "utf8");
      if (!text.includes(from)) throw new Error(`${file} has no "${from}"`);
      writeFileSync(
        join(folder, file),
        text.replace(from, () => to),
      );
    }
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
