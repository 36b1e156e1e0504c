/** Calls that run in the package `jsonata`, while the expression around them stays compiled. */
import { describe, expect, test } from "@jest/globals";
import { compile } from "../../src/jsonata/index.ts";
import { interpret } from "../../src/jsonata/interpreter/interpret.ts";

describe("a call with a picture, or of a function that packs do not use, is left to the package", () => {
  test.each([
    ['$fromMillis(time, "[FNn], [D1o] of [MNn] [Y]")', "Friday, 23rd of March 2018"],
    ['$fromMillis(time, "[H01]:[m01]", "+0530")', "16:03"],
    ['$toMillis("3rd March 2018", "[D1o] [MNn] [Y]")', 1_520_035_200_000],
    ['$formatNumber(price, "#,##0.00") & " EUR"', "1,234.50 EUR"],
    ['($list := [price, 7]; $list.$formatNumber($, "0,0", {"decimal-separator": ","}))', ["1234,5", "7,0"]],
    ['$formatInteger(12, "w")', "twelve"],
    ['$parseInteger("twelve", "w") + 1', 13],
    ['$pad("7", -3, "0") & $formatBase(255, 16)', "007ff"],
    ["$spread([{'a': 1}, {'b': 2}])", [{ a: 1 }, { b: 2 }]],
    [
      "$zip([1, 2], $reverse([3, 4]))",
      [
        [1, 4],
        [2, 3],
      ],
    ],
    ['$toMillis("1970-01-01") & $formatInteger(4, "I")', "0IV"],
  ])("in %s", async (source, result) => {
    const input = { time: 1_521_801_216_617, price: 1234.5 };
    const expression = compile(source);
    expect(expression.engine).toBe("compiled");
    expect(expression.evaluate(input, {})).toEqual(result);
    expect(await interpret(source).evaluate(input, {})).toEqual(result);
  });

  test("not where an expression has a function of that name", () => {
    const source = "($formatInteger := function($n) { $n }; $formatInteger(time))";
    expect(compile(source).evaluate({ time: 7 }, {})).toBe(7);
  });

  test("the error has JSONata's code", () => {
    expect(() => compile("1 + $formatNumber(1, '0.0.0')").evaluate({}, {})).toThrow(
      expect.objectContaining({
        jsonataCode: "D3081",
        message: "the picture has two decimal separators",
      }),
    );
  });
});

describe("a hostile picture", () => {
  const long = "0".repeat(1001);

  test.each([
    ["$fromMillis(0, picture)", `[Y${long}]`],
    ["$fromMillis(0, picture)", "[Y,1000000000]"],
    ["$fromMillis(0, picture)", "[H,*-5000]"],
    ["$formatNumber(0, picture)", long],
    ["$formatNumber(0, picture, {'digit': '?'})", long],
    ["$formatInteger(0, picture)", long],
    ["$parseInteger('0', picture)", long],
  ])("%s is rejected for a picture of more than 1000 characters or digits", async (source, picture) => {
    for (const make of [compile, interpret]) {
      const evaluated = (async () => make(source).evaluate({ picture }, {}))();
      await expect(evaluated).rejects.toMatchObject({ jsonataCode: "too_large" });
    }
  });

  test("is removed from the cache: pictures from data do not fill the memory", () => {
    const expression = compile("$fromMillis(0, picture)");
    for (let index = 0; index < 5000; index += 1)
      expect(expression.evaluate({ picture: `[Y]${index}` }, {})).toBe(`1970${index}`);
  });
});
