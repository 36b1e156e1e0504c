/** Limits of what the audit parses, and of the pages that it returns. */
import { expect, test } from "@jest/globals";
import { parseWhole } from "../../../src/audit/redact/redact-walk.ts";
import { clampLimit } from "../../../src/audit/store/record-pages.ts";
import { MAX_LIMIT } from "../../../src/audit/store/store.ts";

test("commas and brackets in a string do not count as values, also after an escaped quotation mark", () => {
  const marks = ",[{".repeat(6000);
  expect(parseWhole(`["${marks}"]`)).toBeDefined();
  expect(parseWhole(`["\\"${marks}"]`)).toBeDefined();
  expect(parseWhole(`["\\\\",${"1,".repeat(8000)}1]`)).toBeUndefined();
  expect(parseWhole(`["\\\\\\"${marks}\\\\"]`)).toBeDefined();
});

test("a page has between one record and the maximum", () => {
  expect([-1, 0, 1, 7, MAX_LIMIT, MAX_LIMIT + 1].map((limit) => clampLimit({ limit }))).toEqual([
    1,
    1,
    1,
    7,
    MAX_LIMIT,
    MAX_LIMIT,
  ]);
});
