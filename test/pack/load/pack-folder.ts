import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PackError, type Diagnostic } from "../../../src/base/files/diagnostic.ts";
import { loadPack } from "../../../src/pack/load/load-pack.ts";

const LIBRARY = "examples/library/pack";

/** One change of a pack's file: the first text is replaced with the second. */
export interface Edit {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A diagnostic's location and message. */
export type ReportedFault = Pick<Diagnostic, "file" | "line" | "column" | "message">;

/** Copies a pack with changes in it, hands its folder over, and removes it once `use` has ended. */
export function withPack<T>(edits: readonly Edit[], use: (folder: string) => T, pack = LIBRARY): T {
  const folder = mkdtempSync(join(tmpdir(), "pack-"));
  const remove = (): void => rmSync(folder, { recursive: true });
  let result: T;
  try {
    cpSync(pack, folder, { recursive: true });
    for (const { file, from, to } of edits) {
      const text = readFileSync(join(folder, file), "utf8");
      if (!text.includes(from)) throw new Error(`${file} has no "${from}"`);
      writeFileSync(
        join(folder, file),
        text.replace(from, () => to),
      );
    }
    result = use(folder);
  } catch (error) {
    remove();
    throw error;
  }
  if (result instanceof Promise) return result.finally(remove) as T;
  remove();
  return result;
}

/** Loads the library's pack with changes in it; gives its faults with their hints, files by their names alone. */
export const faultsOf = (...edits: readonly Edit[]): ReportedFault[] =>
  withPack(edits, (folder) => {
    try {
      loadPack(folder);
      return [];
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      return error.diagnostics.map(({ file, line, column, message, hint }) => ({
        file: file.slice(folder.length + 1),
        line,
        column,
        message: hint === undefined ? message : `${message}; ${hint}`,
      }));
    }
  });
