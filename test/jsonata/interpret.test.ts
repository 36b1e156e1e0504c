import { describe, expect, jest, test } from "@jest/globals";
import { allBut } from "../support/fake-time.ts";
import * as fc from "fast-check";
import { compile, ExpressionError, type Bindings } from "../../src/jsonata/index.ts";
import { interpret } from "../../src/jsonata/interpreter/interpret.ts";

const ENGINES = [
  ["interpreted", interpret],
  ["compiled", compile],
] as const;

describe.each(ENGINES)("evaluating an expression (%s)", (engine, make) => {
  /** Whether an engine throws or rejects is its own business. */
  const evaluate = async (source: string, input: unknown, bindings: Bindings = {}): Promise<unknown> =>
    make(source).evaluate(input, bindings);

  test("has its source text", () => {
    expect(make("a.b").engine).toBe(engine);
  });

  test("returns plain arrays and objects that share nothing with its input", async () => {
    const input = { list: [{ x: { y: 1 } }] };
    const result = (await evaluate("[list]", input)) as (typeof input)["list"];
    expect(Object.keys(Object.getOwnPropertyDescriptors(result))).toEqual(["0", "length"]);
    expect(Object.getPrototypeOf(result[0])).toBe(Object.prototype);
    expect(structuredClone(result)).toEqual(input.list);
    expect(result[0]?.x).not.toBe(input.list[0]?.x);
  });

  test("lists the variables that it reads, without those that it binds", () => {
    const source = "($a := $b; $map(list, function($c) { $c + $a + $d + $$.e }))";
    expect([...compile(source).variables].sort()).toEqual(["b", "d", "map"]);
  });

  test.each(["a.constructor", "$lookup($, 'toString')", "a.__proto__"])(
    "%s does not reach JavaScript's globals",
    async (source) => {
      expect(await evaluate(source, { a: {} })).toBeUndefined();
    },
  );

  test("a member named __proto__ is an ordinary member", async () => {
    const result = await evaluate("$", JSON.parse('{"__proto__":{"admin":true}}'));
    expect(JSON.stringify(result)).toBe('{"__proto__":{"admin":true}}');
    expect((result as { admin?: boolean }).admin).toBeUndefined();
  });

  test("reports the reason of a failure", async () => {
    await expect(evaluate("1 + a", { a: "x" })).rejects.toBeInstanceOf(ExpressionError);
    await expect(evaluate("1 + a", { a: "x" })).rejects.toMatchObject({
      jsonataCode: "T2002",
    });
  });

  test("endless recursion is stopped", async () => {
    await expect(evaluate("($f := function($n) { $f($n + 1) + 1 }; $f(0))", {})).rejects.toMatchObject({
      jsonataCode: expect.stringMatching(/^D101[12]$/),
    });
  });

  test("counts steps and not the time, so that it is not stopped on a busy machine", async () => {
    jest.useFakeTimers({ doNotFake: allBut("Date", "performance") });
    try {
      const wait = (): void => jest.advanceTimersByTime(2000);
      const source = "($sum([1..3000].($ * 2)); $wait(); $sum([1..3000].($ * 2)))";
      expect(await evaluate(source, {}, { wait })).toBe(9_003_000);
    } finally {
      jest.useRealTimers();
    }
  });

  test("a message about endless work does not name a time", async () => {
    const endless = "($f := function($n) { $f($n) }; $f(0))";
    await expect(evaluate(endless, {})).rejects.toMatchObject({
      message: "the evaluation takes too long; is there an endless loop?",
    });
  });

  test("each evaluation has its own steps", async () => {
    const program = make("$count([1..60].($map([1..60], function($n) { $n + 1 })))");
    for (let round = 0; round < 6; round += 1) expect(await program.evaluate({}, {})).toBe(3600);
  });

  test("jsonata#804: concurrent evaluations do not share input or variables", async () => {
    const program = make("{ 'own': $$.id, 'given': $value, 'list': [items.{ 'of': $$.id }] }");
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.integer(), { minLength: 2, maxLength: 30 }), async (ids) => {
        const results = await Promise.all(
          ids.map((id) => program.evaluate({ id, items: [1, 2] }, { value: id })),
        );
        expect(results).toEqual(ids.map((id) => ({ own: id, given: id, list: [{ of: id }, { of: id }] })));
      }),
      { numRuns: 30 },
    );
  });
});
