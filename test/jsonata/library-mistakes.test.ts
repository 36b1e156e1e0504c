/** What JSONata itself gets wrong: `check` reports it, since compiled expressions have the same results. */
import { describe, expect, test } from "@jest/globals";
import jsonata from "jsonata";
import { check, compile } from "../../src/jsonata/index.ts";
import { BUILTINS } from "../../src/jsonata/runtime/builtins/table.ts";

const LISTS = {
  lists: [
    [1, 2],
    [3, 4],
  ],
};
const MARCH = Date.UTC(2020, 2);

/** An expression, its wrong result, the right one, what `check` says, and an expression with the right result. */
const MISTAKES: readonly (readonly [
  source: string,
  wrong: unknown,
  right: unknown,
  message: string,
  instead: string,
])[] = [
  [
    "$fromMillis(0, '[H01]:[m01]', '-0530')",
    "17:30",
    "18:30",
    "an hour wrong in the time zone -0530",
    "$fromMillis(-19800000, '[H01]:[m01]')",
  ],
  ["0 ~> $fromMillis('[H01]', '-0030')", "22", "23", "the time zone -0030", "$fromMillis(-1800000, '[H01]')"],
  ["($i := 1; lists[$i][0])", [3, 4], 3, "after a computed index", "($i := 1; (lists[$i])[0])"],
  ["($a := lists; $i := 0; $a[$i + 1][$i])", [3, 4], 3, "after a computed index", "(lists[1])[0]"],
  ["lists[$count($$.lists) - 1][0]", [3, 4], 3, "after a computed index", "(lists[1])[0]"],
  [
    "$toMillis('MARCH 2020', '[MN] [Y]')",
    Date.UTC(2020, 0),
    MARCH,
    "[MN] as January",
    "$toMillis('March 2020', '[MNn] [Y]')",
  ],
  [
    "$toMillis('mar 2020', '[Mn,3-3] [Y]')",
    Date.UTC(2020, 0),
    MARCH,
    "[Mn] as January",
    "$toMillis('Mar 2020', '[MNn,3-3] [Y]')",
  ],
];

const messagesOf = (source: string): string =>
  check(source, new Set())
    .map(({ message }) => message)
    .join("\n");

test.each(MISTAKES)("%s gives %j in place of %j, and check reports it", async (...mistake) => {
  const [source, wrong, right, message, instead] = mistake;
  expect(JSON.parse(JSON.stringify(await jsonata(source).evaluate(LISTS)))).toEqual(wrong);
  expect(await compile(source).evaluate(LISTS, {})).toEqual(wrong);
  expect(messagesOf(source)).toContain(message);
  expect(compile(instead).evaluate(LISTS, {})).toEqual(right);
  expect(messagesOf(instead)).not.toContain(message);
});

describe("check does not report", () => {
  test.each([
    "$fromMillis(0, '[H01]:[m01]', '-0500')",
    "$fromMillis(0, '[H01]:[m01]', '+0530')",
    "$fromMillis(0, '[MN]')",
    "lists[0][0]",
    "lists[$ = 1][0]",
    "lists.a[$count(b) > 1][0]",
    "lists[-1].a[0]",
  ])("%s", (source) => expect(messagesOf(source)).toBe(""));
});

test("check accepts every built-in function that depends on its arguments alone", () => {
  expect(Object.keys(BUILTINS).filter((name) => messagesOf(`$${name}(a)`).includes("unknown"))).toEqual([]);
});
