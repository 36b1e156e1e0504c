/** Rewrites the expected side of golden cases, after a deliberate change of the pack. */
import { readFileSync, writeFileSync } from "node:fs";
import { parseDocument } from "yaml";
import { printDocument, setValue } from "./edit-yaml.ts";
import type { ExampleDifference, ExampleResult } from "./compare-example.ts";

/** A golden case that was rewritten. */
export interface UpdatedExample {
  readonly file: string;
  /** The changed lines, as in a patch. */
  readonly difference: string;
}

const isUpdatable = (difference: ExampleDifference): boolean => "actual" in difference;

/** The lines that differ. Both texts have the same lines before and after each group of them. */
function compareLines(before: readonly string[], after: readonly string[]): string[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (row: number, column: number): number => lengths[row]?.[column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      (lengths[row] as Uint32Array)[column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: string[] = [];
  for (let row = 0, column = 0; row < before.length || column < after.length;) {
    if (row < before.length && before[row] === after[column]) {
      row += 1;
      column += 1;
    } else if (
      column >= after.length ||
      (row < before.length && at(row + 1, column) >= at(row, column + 1))
    ) {
      lines.push(`- ${before[row]}`);
      row += 1;
    } else {
      lines.push(`+ ${after[column]}`);
      column += 1;
    }
  }
  return lines;
}

/** Compares two texts line by line, without the lines that are the same at the start and at the end. */
function describeDifference(before: string, after: string): string {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return compareLines(old.slice(start, old.length - end), now.slice(start, now.length - end)).join("\n");
}

/** Rewrites the files of the examples that differ. Examples whose pack failed are not changed. */
export function updateExamples(results: readonly ExampleResult[]): UpdatedExample[] {
  return results.flatMap(({ example: { source }, differences }) => {
    const parts = new Map(differences.filter(isUpdatable).map((each) => [each.path.join("."), each]));
    if (parts.size === 0) return [];
    const before = readFileSync(source.file, "utf8");
    const document = parseDocument(before);
    for (const { path, actual } of parts.values()) setValue(document, path, actual);
    const after = printDocument(document);
    if (after === before) return [];
    writeFileSync(source.file, after);
    return [{ file: source.file, difference: describeDifference(before, after) }];
  });
}
