import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { check, compile } from "../../src/jsonata/index.ts";

/** The lines of the `@example` of each doc comment, up to its end. */
const examplesOf = (file: string): string[][] =>
  [...readFileSync(file, "utf8").matchAll(/@example\n((?: \* {3}.*\n)+)/g)].map(([, lines = ""]) =>
    lines
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(" *   ".length)),
  );

/** Runs an example. @returns What each line with `// =>` gives, and what it says that it gives. */
function runExample(lines: readonly string[]): { readonly actual: unknown; readonly expected: unknown }[] {
  const body = lines.map((line) => {
    const [, code, expected] = /^(.*?);\s*\/\/ => (.*)$/.exec(line) ?? [];
    return code === undefined ? line : `results.push({ actual: ${code}, expected: ${expected} });`;
  });
  // oxlint-disable-next-line typescript/no-implied-eval -- the examples are code of this repository
  const run = new Function("compile", "check", "results", body.join("\n")) as (...parts: unknown[]) => void;
  const results: ReturnType<typeof runExample> = [];
  run(compile, check, results);
  return results;
}

describe("examples in the doc comments of jsonata", () => {
  test.each(["src/jsonata/compiler/compile.ts", "src/jsonata/check-expression.ts"])(
    "%s shows what its function returns",
    (file) => {
      const results = examplesOf(file).flatMap(runExample);
      expect(results.length).toBeGreaterThanOrEqual(3);
      for (const { actual, expected } of results) expect(actual).toEqual(expected);
    },
  );
});
