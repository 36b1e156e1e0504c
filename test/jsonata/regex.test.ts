/** Regular expressions of packs find the same matches as JavaScript's, in linear time. */
import { describe, expect, test } from "@jest/globals";
import { HttpError } from "../../src/pack/errors/http-error.ts";
import { check, compile, ExpressionError, prepareRegex } from "../../src/jsonata/index.ts";
import { interpret } from "../../src/jsonata/interpreter/interpret.ts";
import { compileSchema } from "../../src/pack/bodies/body-schema.ts";
import { locationIn } from "../../src/base/files/source-location.ts";
import { parseYaml } from "../../src/base/files/yaml-source.ts";
import { isLinear } from "../support/growth.ts";

const anywhere = locationIn(parseYaml("book.yaml", "{}"), []);

/** Patterns that explode in JavaScript's own engine, or are quadratic there, and a text that makes them so. */
const EXPLOSIVE: readonly (readonly [pattern: string, text: (length: number) => string])[] = [
  ["^(a+)+$", (length) => `${"a".repeat(length)}!`],
  ["^(?:a|a)*$", (length) => `${"a".repeat(length)}!`],
  ["^(?:[a-z]+\\.?)+$", (length) => `${"a".repeat(length)}!`],
  ["a*a*b", (length) => "a".repeat(length)],
  ["([0-9]+)USD", (length) => "1".repeat(length)],
  ["^(.*?)d(.*)$", (length) => `${"d".repeat(length)}\n`],
  ["\\s+$", (length) => `${" ".repeat(length)}x`],
  ["(?=a*b)a", (length) => "a".repeat(length)],
  ["(?<=ba*)c", (length) => "a".repeat(length)],
  ["(?:ab?){2,9}c", (length) => "ab".repeat(length / 2)],
  ["(x+x+)+y", (length) => "x".repeat(length)],
];

describe("regular expressions run in linear time", () => {
  test.each(EXPLOSIVE)("/%s/", (pattern, text) => {
    const evaluate = compile(`$contains(text, /${pattern}/)`).evaluate;
    const contains = (input: string) => evaluate({ text: input }, {});
    expect(isLinear(contains, text, 20_000)).toBe(true);
  });

  test.each(EXPLOSIVE)("in a schema's pattern: %s", (pattern, text) => {
    const check = compileSchema({ properties: { text: { type: "string", pattern } } }, anywhere);
    expect(check({ text: text(20_000) })).toMatchObject([{ field: "text" }]);
  });
});

/** A match, as `$replace` gives it to a function. */
interface Found {
  readonly match: string;
  readonly start: number;
  readonly groups: readonly (string | undefined)[];
}

describe("matches of the linear engine", () => {
  const PATTERNS = [
    /(a|ab)(c|bcd)(d*)/,
    /a.*?a/,
    /(-?\d+(?:\.\d*)?)F\b/,
    /(?:(a)|b)*c/,
    /^(.*?)d(.*)$/m,
    /(?!.*--)[a-z][a-z-]*[a-z]/,
    /(?<=a+)b|(?<!a)c/,
    /[^a-c\]]+\/?\u0041?/i,
    /x{2,3}?(y+?)(y*)/,
    /\bab\b|\Bd/,
  ];
  const TEXTS = [
    "",
    "abcd",
    "ab--cd",
    "xxxyyy",
    "-12.5F 3F",
    "abab c",
    "a\nbdd\n",
    "A/]a b ab",
    "acab",
    "é]ab",
  ];

  test.each(PATTERNS)(
    "%s matches what JavaScript's engine matches, compiled and interpreted",
    async (pattern) => {
      for (const text of TEXTS) {
        const matches = [...text.matchAll(new RegExp(pattern, `${pattern.flags}g`))].map((found) => {
          const [match, ...groups] = found;
          return { match, index: found.index, groups: groups.filter((group) => group !== undefined) };
        });
        for (const make of [compile, interpret]) {
          const found: unknown[] = [];
          const note = ({ match, start, groups }: Found): string => {
            found.push({ match, index: start, groups: groups.filter((group) => group !== undefined) });
            return "";
          };
          await make(`$replace(text, ${String(pattern)}, $note)`).evaluate({ text }, { note });
          expect(found).toEqual(matches);
        }
      }
    },
  );

  test("both of two patterns of one schema are checked", () => {
    const check = compileSchema(
      { properties: { one: { pattern: "(?:a+)+x" }, other: { pattern: "(?:b+)+x" } } },
      anywhere,
    );
    expect(check({ one: "aax", other: "bbx" })).toEqual([]);
    expect(check({ one: "bbx", other: "aax" })).toMatchObject([{ field: "one" }, { field: "other" }]);
  });
});

describe("above the limit", () => {
  const long = "1".repeat(1_000_000);

  test("an expression that tries a pattern on many texts fails with D1012: their work counts together", () => {
    const texts = Array.from({ length: 200 }, () => "a".repeat(20_000));
    const { evaluate } = compile("$count($map(texts, function($text) { $contains($text, /a*a*b/) }))");
    expect(() => evaluate({ texts }, {})).toThrow(expect.objectContaining({ jsonataCode: "D1012" }));
    expect(evaluate({ texts: texts.slice(0, 5) }, {})).toBe(5);
  });

  test("an expression fails with D1012", async () => {
    for (const make of [compile, interpret]) {
      const evaluated = (async () => make("$split(text, /([0-9]+)USD/)").evaluate({ text: long }, {}))();
      await expect(evaluated).rejects.toMatchObject({ name: "ExpressionError", jsonataCode: "D1012" });
    }
  });

  test("all matches of one call count towards the limit", () => {
    // Each match is short, and each looks at the whole of the rest.
    const text = "a".repeat(20_000);
    expect(() => compile("$split(text, /a.*b|a/)").evaluate({ text }, {})).toThrow(ExpressionError);
  });

  test("a test that has found a match reads no further", () => {
    const check = compileSchema(
      { properties: { text: { pattern: "[a-z]+@[a-z]+", maxLength: long.length } } },
      anywhere,
    );
    expect(check({ text: `q@${"a".repeat(400_000)}` })).toEqual([]);
  });

  test("a body gets 400", () => {
    const check = compileSchema(
      { properties: { text: { pattern: "([0-9]+)USD", maxLength: long.length } } },
      anywhere,
    );
    expect(() => check({ text: long })).toThrow(HttpError);
  });
});

describe("a pack is rejected", () => {
  const messageOf = (source: string): string | undefined => check(source, new Set())[0]?.message;

  test.each([
    ["a back reference", String.raw`/(a)\1/`, "back reference"],
    ["a named back reference", String.raw`/(?<x>a)\k<x>/`, "back reference"],
    ["a repetition of what can be empty", "/(a*)*b/", "can be empty"],
    ["a group inside a look-around that has to run on the linear machine", "/a*(?=(b))c*d/", "capturing"],
    ["counted repetitions without measure", "/(?:a{1,100}b){1,100}/", "too large"],
    ["a counted repetition beyond any number", "/a*b{2,33333333333333333333}c/", "too large"],
  ])("for %s", (_what, regex, message) => {
    expect(messageOf(`$match(text, ${regex})`)).toContain(message);
    expect(() => compile(`$match(text, ${regex})`)).toThrow(ExpressionError);
  });

  test("for such a pattern in a schema, with its position", () => {
    const reported: unknown[] = [];
    compileSchema(
      { properties: { text: { pattern: "(a*)*b" } } },
      { ...anywhere, report: (fault) => void reported.push(fault) },
    );
    expect(reported).toEqual([expect.stringContaining("can be empty")]);
  });

  test.each([
    ['$toMillis(text, "[Y][M][D][f][f]")', "ambiguous"],
    ['$toMillis(text, "[MNn][FNn]")', "ambiguous"],
    ['$toMillis(text, "[Y]1[M]")', "ambiguous"],
    ['$toMillis(text, "[Dw]-[Mw]")', "in words"],
    ["$toMillis(text, text)", "string literal"],
    ["text ~> $toMillis(text)", "string literal"],
    ["$map(text, $toMillis)", "called"],
    ['($f := $toMillis; $f(text, "[Y][f][f]"))', "called"],
  ])("for a picture string with an exploding regular expression: %s", (source, message) => {
    expect(messageOf(source)).toContain(message);
  });

  test.each([
    "$toMillis(text)",
    '$toMillis(text, "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01][Z]")',
    '$toMillis(text, "[Y0001][M01][D01]")',
    '$toMillis(text, "[D1o] [MNn] [Y]")',
    'text ~> $toMillis("[H01]:[m01] [P]")',
  ])("is not rejected for %s", (source) => {
    expect(check(source, new Set())).toEqual([]);
  });
});

describe("a pattern runs in JavaScript's engine while its work is limited", () => {
  const isNative = (pattern: string): boolean => prepareRegex(pattern, "")() instanceof RegExp;
  /** Up to which number of repeats a pattern runs there. */
  const mostRepeats = (patternOf: (count: number) => string): number => {
    const native = Array.from({ length: 14 }, (_, count) => isNative(patternOf(count + 1)));
    expect(native.lastIndexOf(true)).toBe(native.indexOf(false) - 1);
    return native.indexOf(false);
  };

  test("to 64 steps for each character", () => {
    // 2 ** n ways, each of n + 1 characters and the one that fails: 2 ** 3 * 5 = 40, 2 ** 4 * 6 = 96.
    expect(mostRepeats((count) => `(?:a|a){${count}}b`)).toBe(3);
    expect(mostRepeats((count) => `${"(?:a|a)".repeat(count)}b`)).toBe(3);
    expect(isNative(`(?:${"a|".repeat(30)}a)`)).toBe(true);
    expect(isNative(`(?:${"a|".repeat(32)}a)`)).toBe(false);
  });

  test("to 4096 steps for a text, if it is tried at the start of the text only", () => {
    // 2 ** 8 * 11 = 2816, 2 ** 9 * 12 = 6144.
    expect(mostRepeats((count) => `^(?:a|a){${count}}b`)).toBe(8);
    expect(mostRepeats((count) => `^${"(?:a|a)".repeat(count)}b`)).toBe(8);
  });
});

test("safe regular expressions run in JavaScript's engine", () => {
  for (const { source, flags } of [
    /32-?bit|i386/i,
    /^[0-9]{1,15}$/,
    /(Z|[+-][0-9][0-9]:?[0-9][0-9])$/,
    /[,\r\n]/g,
  ])
    expect(prepareRegex(source, flags)()).toBeInstanceOf(RegExp);
});
