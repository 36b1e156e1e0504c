/** The page of faults has the expectations of the suites. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ELSEWHERE } from "./elsewhere.ts";
import { faultsPage } from "./faults-page.ts";

const PAGE = "docs/results/faults.md";

test("docs/results/faults.md is up to date with the data of the suites", () => {
  if (process.env["CHAOS_PAGE"]) writeFileSync(PAGE, faultsPage());
  expect(readFileSync(PAGE, "utf8")).toBe(faultsPage());
});

test.each(ELSEWHERE)("the cited test exists: $fault", ({ file, test: name }) => {
  expect(readFileSync(file, "utf8")).toContain(name);
});
