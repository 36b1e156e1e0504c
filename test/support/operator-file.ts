/** Files of an operator, such as a plan or a client directory, in a folder of the test. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorFileError } from "../../src/base/files/operator-file.ts";
import { temporaryFolder } from "./ends-with-test.ts";

/** Writes a file that is removed after the test, and returns its path. */
export function writeOperatorFile(text: string, name = "plan.yaml"): string {
  const file = join(temporaryFolder(), name);
  writeFileSync(file, text);
  return file;
}

/** The problems with which a file is refused: `AG_FILE_INVALID 2: unknown key "ends"`. */
export function problemsIn(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (!(error instanceof OperatorFileError)) throw error;
    return error.problems.map(({ code, line, message }) => `${code} ${line}: ${message}`);
  }
}
