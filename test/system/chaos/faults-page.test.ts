/** The pages of faults have the expectations of the suites, and tests that exist. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { faultsPage } from "./faults-page.ts";

const PAGE = "docs/results/faults.md";

test("docs/results/faults.md is up to date with the data of the suites", () => {
  if (process.env["CHAOS_PAGE"]) writeFileSync(PAGE, faultsPage());
  expect(readFileSync(PAGE, "utf8")).toBe(faultsPage());
});

test("each fault of docs/results/faults.tsv has a test", () => {
  const [, ...rows] = readFileSync("docs/results/faults.tsv", "utf8").trimEnd().split("\n");
  const without = rows.filter((row) => {
    const [, , file = "", name = ""] = row.split("\t");
    return name === "" || !readFileSync(file, "utf8").includes(name);
  });
  expect(without).toEqual([]);
  expect(rows.length).toBeGreaterThan(40);
});
