/** The page of faults has the expectations of the suites. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { ELSEWHERE } from "./elsewhere.ts";
import { faultRows, faultsPage } from "./faults-page.ts";

test.each([
  ["docs/results/faults.md", faultsPage],
  ["docs/results/faults.tsv", faultRows],
] as const)("%s is up to date with the data of the suites", (path, write) => {
  if (process.env["CHAOS_PAGE"]) writeFileSync(path, write());
  expect(readFileSync(path, "utf8")).toBe(write());
});

test.each(ELSEWHERE)("the cited test exists: $fault", ({ file, test: name }) => {
  expect(readFileSync(file, "utf8")).toContain(name);
});
