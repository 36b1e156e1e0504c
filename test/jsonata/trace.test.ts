import { describe, expect, test } from "@jest/globals";
import { compile, type ExpressionError, type TracedNode } from "../../src/jsonata/index.ts";
import {
  findVariableNames,
  namesIn,
  runTraced,
  traceExpression,
  type Evaluation,
  type Recording,
} from "../../src/jsonata/trace/traced-expression.ts";

const BINDINGS = {
  y: { a: 1, b: [1, 2] },
  v: "V",
  f: (value: unknown) => value,
  values: (kind: string, value: unknown) => `${kind}:${String(value)}`,
};

const show = (value: unknown) => ({ value: JSON.stringify(value) ?? null });

/** The steps of an expression. */
async function trace(source: string, input: unknown): Promise<Recording> {
  let last: Promise<Recording> | undefined;
  const expression = traceExpression(compile(source), (evaluation) => {
    last = evaluation.record(show, { left: Infinity });
  });
  try {
    await expression.evaluate(input, BINDINGS);
  } catch {
    // The recording has the error.
  }
  if (!last) throw new Error("there was no evaluation");
  return last;
}

/** Nodes, children after their parents. */
const flatten = (nodes: readonly TracedNode[]): TracedNode[] =>
  nodes.flatMap((node) => [node, ...flatten(node.children)]);

describe("a trace", () => {
  test("has each sub-expression as it is written, with its place and its value", async () => {
    const { nodes } = await trace("$sum(items.price) * (1 + rate)", {
      items: [{ price: 2 }, { price: 3 }],
      rate: 1,
    });
    expect(flatten(nodes).map(({ offset, text, value }) => [offset, text, value])).toEqual([
      [0, "$sum(items.price) * (1 + rate)", "10"],
      [0, "$sum(items.price)", "5"],
      [5, "items.price", "[2,3]"],
      [20, "(1 + rate)", "2"],
      [21, "1 + rate", "2"],
      [25, "rate", "1"],
    ]);
  });

  test.each([
    ["a.b[c = 1].d[]", "a.b[c = 1].d[]"],
    ['`odd name`.z & "]("', '`odd name`.z & "]("'],
    ["/* ( */ $contains(a, /\\)/)", "$contains(a, /\\)/)"],
    ["(a) ~> |b|{'c': 1}|", "(a) ~> |b|{'c': 1}|"],
    ["a{b: $sum(c)}", "a{b: $sum(c)}"],
    ["b / (c / d)", "b / (c / d)"],
    ["-1.5e3 + a", "-1.5e3 + a"],
    ["a /* c */ / (b / d)", "a /* c */ / (b / d)"],
    ["$contains(a, /* c */ /\\(/) = b", "$contains(a, /* c */ /\\(/) = b"],
    ["a +\n  b\n\t+ c", "a + b + c"],
    [`a & "${"x".repeat(300)}"`, `a & "${"x".repeat(194)}…`],
  ])("finds where %s starts and ends", async (source, text) => {
    const { nodes } = await trace(source, {});
    expect(nodes[0]?.text).toBe(text);
  });

  test("says which branch of a condition was taken, a constant too", async () => {
    async function branches(input: unknown): Promise<string[][]> {
      const { nodes } = await trace('a > 1 ? "many" : b ? c', input);
      return flatten(nodes).flatMap(({ branch, text }) => (branch === undefined ? [] : [[branch, text]]));
    }
    expect(await branches({ a: 2 })).toEqual([["then", '"many"']]);
    expect(await branches({ a: 0, b: true, c: 5 })).toEqual([
      ["else", "b ? c"],
      ["then", "c"],
    ]);
    expect(await branches({ a: 0 })).toEqual([["else", "b ? c"]]);
  });

  test("has the arguments and the result of each lookup in a table", async () => {
    const { nodes } = await trace('$values("status", state) = "x"', { state: "on" });
    const lookups = flatten(nodes).flatMap((node) => node.lookups);
    expect(lookups).toEqual([{ function: "values", args: ['"status"', '"on"'], result: '"status:on"' }]);
  });

  test("has the evaluations of a function for each item, in order", async () => {
    const { nodes } = await trace("$map(b, function($v) { $v + 1 })", { b: [1, 2] });
    const values = flatten(nodes).flatMap(({ text, value }) => (text === "$v + 1" ? [value] : []));
    expect(values).toEqual(["2", "3"]);
  });

  test("shows where an error was thrown: the nodes around it have not ended", async () => {
    const { nodes, error } = await trace('a & (b + "x")', { a: 1, b: 2 });
    expect((error as ExpressionError).jsonataCode).toBe("T2002");
    expect(flatten(nodes).map(({ text, hasFailed = false }) => [text, hasFailed])).toEqual([
      ['a & (b + "x")', true],
      ["a", false],
      ['(b + "x")', true],
      ['b + "x"', true],
      ["b", false],
    ]);
  });

  test("has the members of an object, which are evaluated side by side, each with its own sub-expressions", async () => {
    const { nodes } = await trace('{ "x": a & ("1" & b), "y": $f(c) & d }', {
      a: "a",
      b: "b",
      c: "c",
      d: "d",
    });
    const tree = ({ text, children }: TracedNode): unknown => [text, children.map(tree)];
    expect(nodes.map(tree)).toEqual([
      [
        '{ "x": a & ("1" & b), "y": $f(c) & d }',
        [
          [
            'a & ("1" & b)',
            [
              ["a", []],
              ['("1" & b)', [['"1" & b', [["b", []]]]]],
            ],
          ],
          [
            "$f(c) & d",
            [
              ["$f(c)", [["c", []]]],
              ["d", []],
            ],
          ],
        ],
      ],
    ]);
  });

  test("keeps a bounded number of evaluations, and counts the omitted ones", async () => {
    const { nodes, omitted } = await trace("$map([1..500], function($v) { $v + 1 })", {});
    expect(nodes[0]?.children.length).toBeLessThanOrEqual(50);
    expect(omitted).toBeGreaterThan(400);
    expect(nodes[0]?.omitted).toBeGreaterThan(400);
  });

  test("of a pack has each expression that the pack evaluates, with its place", async () => {
    const seen: Evaluation[] = [];
    const expression = runTraced(
      (evaluation) => void seen.push(evaluation),
      () => compile("a", undefined, origin),
    );
    expect(expression.evaluate({ a: 1 }, {})).toBe(1);
    expect(seen).toMatchObject([{ input: { a: 1 }, expression: { source: "a", origin } }]);
    expect(await seen[0]?.record(show, { left: Infinity })).toMatchObject({ value: 1 });
    expect(compile("a").engine).toBe("compiled");
  });

  const origin = { place: "book.yaml:12", path: "fields.price.read", field: "price" };
});

describe("the members of a variable that an expression reads", () => {
  test.each<[string, unknown]>([
    ["$x.a.b + a.c", new Map([["a", new Map([["b", "all"]])]])],
    ["$x.a[b = 1].c & $y.d", new Map([["a", "all"]])],
    ["$x.a > 1 ? $x", "all"],
    ["$string($x.a)", new Map([["a", "all"]])],
    ["($z := $x; $z.a)", "all"],
    ["$x.*", "all"],
    ["a.b", new Map()],
  ])("of %s", (source, names) => {
    expect(findVariableNames(compile(source), "x")).toEqual(names);
  });
});

describe("the names in an expression are those of members and variables, and its texts", () => {
  test.each([
    ["password", true],
    ['a & (user.password & "!")', true],
    ["$password & a", true],
    ['$lookup(user, "password")', true],
    ['{"password": a, "b": a}', true],
    ["list@$l.password", true],
    ["$string(a) & user.name", false],
  ])("%s has password: %s", (source, expected) => {
    expect(namesIn(compile(source)).has("password")).toBe(expected);
  });
});
