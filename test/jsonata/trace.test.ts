import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { readFileSync } from "node:fs";
import { toJsonText } from "../../src/base/json/text.ts";
import { collectExpressions, compile, type ExpressionError } from "../../src/jsonata/index.ts";
import { parse } from "../../src/jsonata/interpret.ts";
import { MAX_CHILDREN, type Frame } from "../../src/jsonata/trace/recorder.ts";
import { compileTraced, runTraced, type Evaluation } from "../../src/jsonata/trace/traced-expression.ts";
import { loadPack } from "../../src/pack/load/load-pack.ts";
import { documents, expressions } from "./generated-expressions.ts";

const BINDINGS = {
  y: { a: 1, b: [1, 2] },
  v: "V",
  f: (value: unknown) => value,
  values: (kind: string, value: unknown) => `${kind}:${String(value)}`,
};
const NO_SECRETS = { isSecret: () => false, onEvaluation: () => undefined };

/** The value, its bytes as JSON and as printed, or the code, text and place of the error. */
function outcome(make: typeof compile, source: string, input: unknown): object {
  try {
    const expression = make(source, undefined);
    if (expression.engine === "interpreted") return { isInterpreted: true };
    const value = expression.evaluate(input, BINDINGS);
    return { value, text: toJsonText(value), printed: expression.print(input, BINDINGS) };
  } catch (error) {
    const { jsonataCode, message, offset } = error as ExpressionError;
    return { jsonataCode, message, offset };
  }
}

const traced: typeof compile = (source, bound, origin) =>
  compileTraced(source, { bound, origin }, NO_SECRETS);

/** The last evaluation of an expression. */
function trace(source: string, input: unknown, isSecret = (_name: string): boolean => false): Evaluation {
  let last: Evaluation | undefined;
  const onEvaluation = (evaluation: Evaluation): void => {
    last = evaluation;
  };
  const expression = compileTraced(
    source,
    { bound: undefined, origin: undefined },
    { isSecret, onEvaluation },
  );
  try {
    expression.evaluate(input, BINDINGS);
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

describe("a traced expression gives, byte for byte, what the untraced one gives", () => {
  const parsing = expressions.filter((source) => {
    try {
      parse(source);
      return true;
    } catch {
      return false;
    }
  });

  test("for any expression and input", () => {
    fc.assert(
      fc.property(parsing, documents, (source, input) => {
        expect(outcome(traced, source, input)).toEqual(outcome(compile, source, input));
      }),
      { numRuns: 8000 },
    );
  }, 300_000);

  test("for each expression of the shipped pack, with any input", () => {
    const { expressions: all } = collectExpressions(() => loadPack("mappings"));
    const sources = [...new Set(all.map(({ source }) => source))];
    expect(sources.length).toBeGreaterThan(100);
    const pairs = sources.map(
      (source) => [compile(source), compileTraced(source, options, NO_SECRETS)] as const,
    );
    const run = (make: () => unknown): unknown => {
      try {
        return make();
      } catch (error) {
        return (error as ExpressionError).jsonataCode;
      }
    };
    const inputs = fc.sample(inputsOf(sources), 90);
    for (const input of inputs)
      for (const [plain, other] of pairs)
        expect(run(() => other.print(input, BINDINGS))).toEqual(run(() => plain.print(input, BINDINGS)));
  }, 300_000);

  const options = { bound: undefined, origin: undefined };

  /** Objects with the names that the expressions read. */
  function inputsOf(sources: readonly string[]): fc.Arbitrary<unknown> {
    const names = [...new Set(sources.flatMap((source) => [...source.matchAll(/\b[a-z_]{2,}\b/g)].flat()))];
    return fc.letrec<Record<"value" | "object" | "list", unknown>>((tie) => ({
      value: fc.oneof({ depthSize: "small", maxDepth: 4 }, scalars, tie("object"), tie("list")),
      object: fc.dictionary(fc.constantFrom(...names), tie("value"), { minKeys: 5, maxKeys: 60 }),
      list: fc.array(tie("value"), { maxLength: 3 }),
    })).object;
  }

  const scalars = fc.constantFrom(null, true, false, 0, 7, 2.5, 1e21, "", "active", "x/y", "2026-01-02");

  test("for each case of JSONata's own tests", () => {
    const cases = readFileSync("test/spec/jsonata/cases.jsonl", "utf8").trimEnd().split("\n");
    const datasets = JSON.parse(readFileSync("test/spec/jsonata/datasets.json", "utf8"));
    for (const line of cases) {
      const { expression, input, dataset } = JSON.parse(line);
      if (/\$(?:millis|now|random|shuffle|eval)/.test(expression)) continue;
      const inputOf = (): unknown => structuredClone(dataset === undefined ? input : datasets[dataset]);
      expect([expression, outcome(traced, expression, inputOf())]).toEqual([
        expression,
        outcome(compile, expression, inputOf()),
      ]);
    }
  }, 300_000);
});

describe("a trace", () => {
  test("has each sub-expression as it is written, with its place and its value", () => {
    const { roots } = trace("$sum(items.price) * (1 + rate)", {
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
  ])("finds where %s starts and ends", (source, text) => {
    expect(trace(source, {}).roots[0]?.step.text).toBe(text);
  });

  test("says which branch of a condition was taken, a constant too", () => {
    const branches = (input: unknown) =>
      flatten(trace('a > 1 ? "many" : b ? c', input).roots).flatMap(({ step: { branch, text } }) =>
        branch === undefined ? [] : [[branch, text]],
      );
    expect(branches({ a: 2 })).toEqual([["then", '"many"']]);
    expect(branches({ a: 0, b: true, c: 5 })).toEqual([
      ["else", "b ? c"],
      ["then", "c"],
    ]);
    expect(branches({ a: 0 })).toEqual([["else", "b ? c"]]);
  });

  test("has the arguments and the result of each lookup in a table", () => {
    const lookups = flatten(trace('$values("status", state) = "x"', { state: "on" }).roots).flatMap(
      (frame) => frame.lookups,
    );
    expect(lookups).toEqual([{ name: "values", args: ["status", "on"], result: "status:on" }]);
  });

  test("has the evaluations of a function for each item, in order", () => {
    expect(valuesOf(trace("$map(b, function($v) { $v + 1 })", { b: [1, 2] }))).toContainEqual(["$v + 1", 3]);
  });

  test("shows where an error was thrown: the nodes around it have not ended", () => {
    const { roots, error } = trace('a & (b + "x")', { a: 1, b: 2 });
    expect((error as ExpressionError).jsonataCode).toBe("T2002");
    expect(flatten(roots).map(({ step, isOpen }) => [step.text, isOpen])).toEqual([
      ['a & (b + "x")', true],
      ["a", false],
      ['(b + "x")', true],
      ['b + "x"', true],
      ["b", false],
    ]);
  });

  test("keeps a bounded number of evaluations, and counts the others", () => {
    const { roots, omitted } = trace("$map([1..500], function($v) { $v + 1 })", {});
    expect(roots[0]?.children.length).toBeLessThanOrEqual(MAX_CHILDREN);
    expect(omitted).toBeGreaterThan(400);
    expect(roots[0]?.omitted).toBeGreaterThan(400);
  });

  test("of a pack has each expression that the pack evaluates, with its place", () => {
    const seen: Evaluation[] = [];
    const tracing = { isSecret: () => false, onEvaluation: (each: Evaluation) => void seen.push(each) };
    const expression = runTraced(tracing, () => compile("a", undefined, origin));
    expression.evaluate({ a: 1 }, {});
    expect(seen[0]).toMatchObject({ source: "a", origin, value: 1 });
    expect(compile("a").engine).toBe("compiled");
  });

  const origin = { place: "book.yaml:12", path: "fields.price.read", field: "price" };
});

describe("a value that comes from a secret", () => {
  const INPUT = { a: 1, password: "pw-1", user: { password: "pw-2", name: "n" }, list: [{ password: "pw" }] };
  const secretTexts = (source: string): string[] =>
    flatten(trace(source, INPUT, (name) => name === "password").roots).flatMap(({ step }) =>
      step.isSecret ? [step.text] : [],
    );

  test.each([
    ["password", ["password"]],
    ["user.name & a", []],
    ['a & (password & "!")', ['a & (password & "!")', '(password & "!")', 'password & "!"', "password"]],
    ["user.password.$length()", ["user.password.$length()", "$length()"]],
    ["$string(a) & user.name", []],
    ["($x := password; $y := $x; a + $length($y))", expect.arrayContaining(["$y", "$x", "$length($y)"])],
    [
      "($f := function($p) { $p & 1 }; $f(password))",
      expect.arrayContaining(["$p & 1", "$p", "$f(password)"]),
    ],
    ["$map(list.password, function($p) { $uppercase($p) & 1 })", expect.arrayContaining(["$uppercase($p)"])],
    ['$lookup(user, "password")', ['$lookup(user, "password")']],
    ['{"password": a, "b": a}', ['{"password": a, "b": a}', "a"]],
    ["password ? a : user.name", ["password ? a : user.name", "password"]],
    ["list[password = a].x", expect.arrayContaining(["password = a"])],
    ["list@$l.password", ["list@$l.password"]],
    ["a ~> function($p) { $p & password }", expect.arrayContaining(["$p & password"])],
  ])("%s marks its nodes", (source, texts) => {
    expect(secretTexts(source)).toEqual(texts);
  });
});
