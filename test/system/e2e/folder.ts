import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

/** A folder of this test's own. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "e2e-"));
  folders.push(folder);
  return folder;
}

/** For `afterEach`, when nothing runs any more. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
