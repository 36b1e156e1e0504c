import { expect, test } from "@jest/globals";
import { existsSync, readFileSync } from "node:fs";

const page = readFileSync("docs/threat-model.md", "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| Attack |"));

test("each threat in docs/threat-model.md names at least one test file that exists", () => {
  for (const row of rows) {
    const testCell = row.split(" | ").at(-1) ?? "";
    const tests = [...testCell.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path = ""]) => path);
    expect({ row, tests: tests.length }).not.toMatchObject({ tests: 0 });
    expect(tests.filter((path) => !existsSync(path))).toEqual([]);
  }
  expect(rows.length).toBeGreaterThan(20);
});
