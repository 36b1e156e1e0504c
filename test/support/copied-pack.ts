import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./ends-with-test.ts";

/** Copies the pack of the library to a folder, which is removed after the test. */
export function copyPack(): { folder: string; change(file: string, from: string, to: string): void } {
  const folder = temporaryFolder();
  cpSync("examples/library/pack", folder, { recursive: true });
  return {
    folder,
    change(file, from, to) {
      const path = join(folder, file);
      writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
    },
  };
}
