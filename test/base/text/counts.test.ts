import { describe, expect, test } from "@jest/globals";
import {
  formatCount,
  formatRate,
  percent,
  percentDown,
  plural,
  verbFor,
} from "../../../src/base/text/counts.ts";

test.each([
  [0, "0"],
  [999, "999"],
  [1000, "1,000"],
  [1_234_567, "1,234,567"],
])("%i is written as %s", (number, expected) => expect(formatCount(number)).toBe(expected));

test("a verb agrees with its count", () => {
  expect([0, 1, 2].map((number) => verbFor(number, "send"))).toEqual(["send", "sends", "send"]);
  expect([1, 2].map((number) => verbFor(number, "have", "has"))).toEqual(["has", "have"]);
});

test.each([
  [0.001, "0.1 %"],
  [0.000_998_4, "0.0998 %"],
  [0.5, "50 %"],
])("a rate of %d is %s", (rate, expected) => expect(formatRate(rate)).toBe(expected));

test.each([
  [0, 0, "0 %"],
  [1, 3, "33.33 %"],
  [99_999, 100_000, "99.99 %"],
  [10, 10, "100 %"],
])("%i of %i, rounded down, is %s", (part, whole, expected) =>
  expect(percentDown(part, whole)).toBe(expected),
);

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
