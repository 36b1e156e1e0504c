/** Prints the problems of a pack or of another file. */
import {
  type Diagnostic,
  formatDiagnostic,
  MAX_DIAGNOSTICS,
  OperatorFileError,
  PackError,
  plural,
} from "../../../base/index.ts";
import { print } from "../terminal.ts";

/** Prints problems. @param format Formats one problem. @returns the exit code */
export function reportProblems<T extends Diagnostic>(
  diagnostics: readonly T[],
  format: (problem: T) => string = formatDiagnostic,
): number {
  const first = diagnostics.slice(0, MAX_DIAGNOSTICS);
  const more = first.length < MAX_DIAGNOSTICS ? "" : ": correct these to see others";
  const count = `${plural(first.length, "problem")}${more}`;
  print(`${first.map((problem) => format(problem)).join("\n")}\n${count}\n`);
  return 1;
}

/** Runs a check. If a file is invalid, prints the file's problems. @returns the exit code */
export async function reportInvalid(run: () => Promise<number>): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof PackError) return reportProblems(error.diagnostics);
    if (error instanceof OperatorFileError)
      return reportProblems(error.problems, (problem) => `${problem.code} ${formatDiagnostic(problem)}`);
    throw error;
  }
}
