/** Files of an operator, such as a plan or a client directory, in a folder of the test. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "./ends-with-test.ts";

/** Writes a file that is removed after the test, and returns its path. */
export function writeOperatorFile(text: string, name = "plan.yaml"): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}
