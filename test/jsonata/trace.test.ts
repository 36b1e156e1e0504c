import { describe, expect, test } from "@jest/globals";
import { compile, type ExpressionError } from "../../src/jsonata/index.ts";
import { MAX_CHILDREN, type Frame } from "../../src/jsonata/trace/recorder.ts";
import { runTraced, traceExpression, type Evaluation } from "../../src/jsonata/trace/traced-expression.ts";

const BINDINGS = {
  y: { a: 1, b: [1, 2] },
  v: "V",
  f: (value: unknown) => value,
  values: (kind: string, value: unknown) => `${kind}:${String(value)}`,
};

/** The last evaluation of an expression. */
async function trace(
  source: string,
  input: unknown,
  isSecret = (_name: string): boolean => false,
): Promise<Evaluation> {
  let last: Promise<Evaluation> | undefined;
  const onEvaluation = (evaluation: Promise<Evaluation>): void => {
    last = evaluation;
  };
  const options = { bound: undefined, origin: undefined };
  const expression = traceExpression(source, options, { isSecret, onEvaluation });
  try {
    await expression.evaluate(input, BINDINGS);
  } catch {
    // The evaluation has the error.
  }
  if (!last) throw new Error("there was no evaluation");
  return last;
}

/** Nodes with their values, children after their parents. */
const flatten = (frames: readonly Frame[]): Frame[] =>
  frames.flatMap((frame) => [frame, ...flatten(frame.children)]);
const valuesOf = (evaluation: Evaluation): [string, unknown][] =>
  flatten(evaluation.roots).map(({ step, value }) => [step.text, value]);

describe("a trace", () => {
  test("has each sub-expression as it is written, with its place and its value", async () => {
    const { roots } = await trace("$sum(items.price) * (1 + rate)", {
      items: [{ price: 2 }, { price: 3 }],
      rate: 1,
    });
    const nodes = flatten(roots).map(({ step: { text, offset }, value }) => [offset, text, value]);
    expect(JSON.parse(JSON.stringify(nodes))).toEqual([
      [0, "$sum(items.price) * (1 + rate)", 10],
      [0, "$sum(items.price)", 5],
      [5, "items.price", [2, 3]],
      [20, "(1 + rate)", 2],
      [21, "1 + rate", 2],
      [25, "rate", 1],
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
  ])("finds where %s starts and ends", async (source, text) => {
    const { roots } = await trace(source, {});
    expect(roots[0]?.step.text).toBe(text);
  });

  test("says which branch of a condition was taken, a constant too", async () => {
    async function branches(input: unknown): Promise<string[][]> {
      const { roots } = await trace('a > 1 ? "many" : b ? c', input);
      return flatten(roots).flatMap(({ step: { branch, text } }) =>
        branch === undefined ? [] : [[branch, text]],
      );
    }
    expect(await branches({ a: 2 })).toEqual([["then", '"many"']]);
    expect(await branches({ a: 0, b: true, c: 5 })).toEqual([
      ["else", "b ? c"],
      ["then", "c"],
    ]);
    expect(await branches({ a: 0 })).toEqual([["else", "b ? c"]]);
  });

  test("has the arguments and the result of each lookup in a table", async () => {
    const { roots } = await trace('$values("status", state) = "x"', { state: "on" });
    const lookups = flatten(roots).flatMap((frame) => frame.lookups);
    expect(lookups).toEqual([{ name: "values", args: ["status", "on"], result: "status:on" }]);
  });

  test("has the evaluations of a function for each item, in order", async () => {
    expect(valuesOf(await trace("$map(b, function($v) { $v + 1 })", { b: [1, 2] }))).toContainEqual([
      "$v + 1",
      3,
    ]);
  });

  test("shows where an error was thrown: the nodes around it have not ended", async () => {
    const { roots, error } = await trace('a & (b + "x")', { a: 1, b: 2 });
    expect((error as ExpressionError).jsonataCode).toBe("T2002");
    expect(flatten(roots).map(({ step, isOpen }) => [step.text, isOpen])).toEqual([
      ['a & (b + "x")', true],
      ["a", false],
      ['(b + "x")', true],
      ['b + "x"', true],
      ["b", false],
    ]);
  });

  test("has the members of an object, which are evaluated side by side, each with its own sub-expressions", async () => {
    const { roots } = await trace('{ "x": a & ("1" & b), "y": $f(c) & d }', {
      a: "a",
      b: "b",
      c: "c",
      d: "d",
    });
    const tree = ({ step, children }: Frame): unknown => [step.text, children.map(tree)];
    expect(roots.map(tree)).toEqual([
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

  test("keeps a bounded number of evaluations, and counts the others", async () => {
    const { roots, omitted } = await trace("$map([1..500], function($v) { $v + 1 })", {});
    expect(roots[0]?.children.length).toBeLessThanOrEqual(MAX_CHILDREN);
    expect(omitted).toBeGreaterThan(400);
    expect(roots[0]?.omitted).toBeGreaterThan(400);
  });

  test("of a pack has each expression that the pack evaluates, with its place", async () => {
    const seen: Promise<Evaluation>[] = [];
    const tracing = {
      isSecret: () => false,
      onEvaluation: (each: Promise<Evaluation>) => void seen.push(each),
    };
    const expression = runTraced(tracing, () => compile("a", undefined, origin));
    expect(expression.evaluate({ a: 1 }, {})).toBe(1);
    expect(await seen[0]).toMatchObject({ source: "a", origin, value: 1 });
    expect(compile("a").engine).toBe("compiled");
  });

  const origin = { place: "book.yaml:12", path: "fields.price.read", field: "price" };
});

describe("an expression that names a secret", () => {
  const namesSecret = async (source: string): Promise<boolean> =>
    (await trace(source, {}, (name) => name === "password")).namesSecret;

  test.each([
    ["password", true],
    ['a & (user.password & "!")', true],
    ["$password & a", true],
    ['$lookup(user, "password")', true],
    ['{"password": a, "b": a}', true],
    ["list@$l.password", true],
    ["$string(a) & user.name", false],
  ])("%s: %s", async (source, expected) => {
    expect(await namesSecret(source)).toBe(expected);
  });
});
