/** Files of an operator, such as a plan or a client directory, in a folder of the test. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "@jest/globals";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Writes a file that is removed after the tests, and returns its path. */
export function writeOperatorFile(text: string, name = "plan.yaml"): string {
  const folder = mkdtempSync(join(tmpdir(), "operator-"));
  folders.push(folder);
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
