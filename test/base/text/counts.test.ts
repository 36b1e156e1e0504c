import { describe, expect, test } from "@jest/globals";
import { formatCount, formatSpacedCount, percent, plural } from "../../../src/base/text/counts.ts";

test.each([
  [0, "0", "0"],
  [999, "999", "999"],
  [1000, "1,000", "1 000"],
  [1_234_567, "1,234,567", "1 234 567"],
])("%i is written as %s, and with spaces as %s", (number, expected, spaced) => {
  expect([formatCount(number), formatSpacedCount(number)]).toEqual([expected, spaced]);
});

test.each([
  [0, "0 calls"],
  [1, "1 call"],
  [2, "2 calls"],
  [1000, "1,000 calls"],
])("%i of a word is %s", (number, expected) => expect(plural(number, "call")).toBe(expected));

describe("a share", () => {
  test.each([
    [0, 0, "–"],
    [0, 10, "0 %"],
    [1, 1000, "< 1 %"],
    [1, 3, "33 %"],
    [999, 1000, "> 99 %"],
    [10, 10, "100 %"],
  ])("%i of %i is %s", (part, whole, expected) => expect(percent(part, whole)).toBe(expected));
});
