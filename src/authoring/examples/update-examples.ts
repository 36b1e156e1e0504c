/** Rewrites the expected results of golden cases after a deliberate change of the pack. */
import { readFileSync, writeFileSync } from "node:fs";
import { diff } from "node:util";
import { parseDocument } from "yaml";
import { printDocument, setValue } from "./edit-yaml.ts";
import type { ExampleDifference, ExampleResult } from "./compare-example.ts";

/** A golden case that was rewritten. */
export interface UpdatedExample {
  readonly file: string;
  /** The changed lines, in the form of a patch. */
  readonly difference: string;
}

const isUpdatable = (difference: ExampleDifference): boolean => "actual" in difference;

/** Compares two texts line by line. Returns the lines that differ, in the form of a patch. */
const describeDifference = (before: string, after: string): string =>
  diff(before.split("\n"), after.split("\n"))
    .flatMap(([side, line]) => (side === 0 ? [] : [`${side > 0 ? "-" : "+"} ${line}`]))
    .join("\n");

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
