/** The tables of the pack format are those of the keys. */
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { PAGE, withTables } from "./pack-reference.ts";

const page = readFileSync(PAGE, "utf8");

test("docs/reference/pack-format.md has the tables of the keys: npm run docs", () => {
  expect(page).toBe(withTables(page));
});

test("docs/reference/pack-format.md has at most 6 100 words", () => {
  expect(page.trim().split(/\s+/).length).toBeLessThanOrEqual(6100);
});
