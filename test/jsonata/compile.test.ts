import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { parseJson, printJson } from "../../src/base/json/parse.ts";
import { compile, collectExpressions, ExpressionError } from "../../src/jsonata/index.ts";

describe("a compiled expression", () => {
  test("returns and throws synchronously", () => {
    expect(compile("a + 1").evaluate({ a: 1 }, {})).toBe(2);
    expect(() => compile("a + 1").evaluate({ a: "x" }, {})).toThrow(ExpressionError);
  });

  test("shows its JavaScript", () => {
    expect(compile("a.b").code).toContain("return function evaluate(input, bindings)");
  });

  test("names the reason if it is left to the interpreter", () => {
    expect(compile("(a.b).%.c")).toMatchObject({
      engine: "interpreted",
      fallback: "a path that binds variables with @, # or %",
    });
    expect(compile("$now()")).toMatchObject({ engine: "interpreted", fallback: "$now reads the clock" });
  });

  test("is rejected if it is not valid JSONata", () => {
    expect(() => compile("a +")).toThrow(ExpressionError);
  });

  test("keeps numbers that no double can represent", () => {
    const input = parseJson('{"id": 12345678901234567890, "list": [0.10000000000000000001]}');
    expect(printJson(compile("{ 'id': id, 'list': list, 'text': 'n' & id }").evaluate(input, {}))).toBe(
      '{"id":12345678901234567890,"list":[0.10000000000000000001],"text":"n12345678901234567890"}',
    );
  });

  test("starts a range with its first number, -0 too", () => {
    expect(compile("[-a..1]").evaluate({ a: 0 }, {})).toEqual([-0, 1]);
  });

  test("is interpreted if a variable has the name of a built-in function", async () => {
    const expression = compile("$floor(a) & $uppercase('x')", new Set(["floor"]));
    expect(expression.fallback).toBe("a variable with the name of the function $floor");
    expect(await expression.evaluate({ a: 1.5 }, { floor: () => "bound" })).toBe("boundX");
  });

  test("rejects a bound function that returns a promise", () => {
    expect(() => compile("$f()").evaluate({}, { f: async () => 1 })).toThrow(
      "a bound function returns a promise",
    );
  });

  test("throws the error of a bound function", () => {
    const bound = {
      f: () => {
        throw new TypeError("broken");
      },
    };
    expect(() => compile("1 + $f()").evaluate({}, bound)).toThrow(
      expect.objectContaining({
        name: "ExpressionError",
        code: "AG_EXPRESSION_FAILED",
        jsonataCode: "unknown",
        message: "broken",
      }),
    );
  });

  test("does not change bound functions", () => {
    const f = Object.freeze((value: unknown) => value);
    const source = "($g := function($x){ $f($x) }; [$f(1), $g(2), $map([3], $f)])";
    expect(compile(source).evaluate({}, { f })).toEqual([1, 2, 3]);
  });
});

describe("an expression that does not terminate is stopped", () => {
  test.each([
    ["endless recursion", "($f := function($n){ 1 + $f($n) }; $f(0))", "D1011"],
    [
      "endless recursion through a built-in function",
      "($f := function($n){ $map($n, $f)[0] }; $f(0))",
      "D1011",
    ],
    ["an endless loop", "($f := function($n){ $f($n) }; $f(0))", "D1012"],
    ["a loop in a loop", "($n := [1..100000]; $count($n.(a; $count($n.($ + 1)))))", "D1012"],
    ["a predicate in a loop", "$count([1..100000][$count($$.list[$ > 1]) > 5])", "D1012"],
    ["too long a range", "[1..10000001]", "D2014"],
    [
      "too many objects",
      "($n := [1..100000]; $m := [1..1000]; $keys($merge($n.{'k' & $: $keys($merge($m.{'k' & $: 1}))})))",
      "D1012",
    ],
    ["too many places in a predicate", "[1..100000][[0..99999]]", "D1012"],
  ])("%s", async (_what, source, jsonataCode) => {
    const input = { list: Array.from({ length: 10_000 }, (_, index) => index) };
    const evaluated = (async () => compile(source).evaluate(input, {}))();
    await expect(evaluated).rejects.toMatchObject({ jsonataCode });
  });

  const doubled = (value: string): string => `(${`$v := ${value}; `.repeat(40)}$v)`;
  test.each([
    ["a range", "[1..100001]", "D2015", "a range gives a list of more than 100000 items"],
    ["$append", doubled("$append($v, $v)"), "D2015", "$append gives a list of more than 100000 items"],
    ["a list in itself", doubled("[$v, $v]"), "D2015", "[ ] gives a list of more than 100000 items"],
    ["a path", "list.$$.list", "D2015", "a path gives a list of more than 100000 items"],
    ["$split", "$split($pad('', 200000), '')", "D2015", "$split gives a list of more than 100000 items"],
    ["$pad", "$pad('', 1000000000)", "too_large", "$pad gives a text of more than 1000000 characters"],
    ["&", doubled("$v & $v"), "too_large", "& gives a text of more than 1000000 characters"],
    ["$join", "$join(list.(text & text))", "too_large", "$join gives a text of more than 1000000 characters"],
    [
      "$replace by a text",
      "$replace('aaaaaaaaaaaa', 'a', $pad('', 100000))",
      "too_large",
      "$replace gives a text of more than 1000000 characters",
    ],
    [
      "$replace by groups",
      "($n := [1..2000]; $replace($pad('', 1000, 'a'), /(a+)/, $join($n.('$1'))))",
      "too_large",
      "$replace gives a text of more than 1000000 characters",
    ],
    [
      "$encodeUrl",
      "$encodeUrl($pad('', 500000, 'é'))",
      "too_large",
      "$encodeUrl gives a text of more than 1000000 characters",
    ],
    [
      "$string",
      `$string(${doubled("{ 'a': $v, 'b': $v }")})`,
      "too_large",
      "the text of a value gives more than 1000000 values and characters",
    ],
    [
      "the result",
      doubled("{ 'a': $v, 'b': $v }"),
      "too_large",
      "the expression gives more than 2000000 values and characters",
    ],
  ])(
    "%s gives no more than fits into memory, and the error names the limit",
    (_what, source, jsonataCode, message) => {
      const input = { list: Array.from({ length: 10_000 }, () => ({ text: "x".repeat(60) })) };
      const bound = { v: "ab" };
      for (const run of ["evaluate", "print"] as const)
        expect(() => compile(source)[run](input, bound)).toThrow(
          expect.objectContaining({ name: "ExpressionError", jsonataCode, message }),
        );
    },
  );

  test("what the interpreter evaluates has the same limit of lists and results", async () => {
    const parent = "(a.b).%.c";
    expect(compile(`[${parent}, [1..100001]]`).engine).toBe("interpreted");
    await expect(compile(`[${parent}, [1..100001]]`).evaluate({}, {})).rejects.toMatchObject({
      jsonataCode: "D2015",
    });
    await expect(compile(`[${parent}, $pad('', 3000000)]`).evaluate({}, {})).rejects.toMatchObject({
      jsonataCode: "too_large",
    });
  });

  test("the next evaluation has its full limit", () => {
    const expression = compile(
      "($f := function($g, $n){ $n > 0 ? 1 + $g($g, $n - 1) : $stop ? 1 + $g($g, $n) : 0 }; $f($f, 90))",
    );
    for (let round = 0; round < 20; round += 1) {
      expect(() => expression.evaluate({}, { stop: true })).toThrow(
        expect.objectContaining({ jsonataCode: "D1011" }),
      );
      expect(expression.evaluate({}, { stop: false })).toBe(90);
    }
  });
});

describe("an expression cannot inject code", () => {
  const hostile = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom(
      '"];throw 1;["',
      "${x}",
      "\\",
      "\\\\u0022",
      "\u2028",
      "__proto__",
      "constructor",
      "*/",
      "'",
    ),
  );

  test("a string stays a string", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(compile(JSON.stringify(text)).evaluate({}, {})).toBe(text);
      }),
    );
  });

  test("a name stays a name, as a step and in an object", () => {
    const name = hostile.filter((text) => text !== "" && !text.includes("`") && text !== "__proto__");
    fc.assert(
      fc.property(name, (text) => {
        const object = Object.fromEntries([[text, { [`${text}!`]: 1 }]]);
        expect(compile(`\`${text}\``).evaluate(object, {})).toEqual(object[text]);
        expect(compile(`\`${text}\``).evaluate({}, {})).toBeUndefined();
        const result = compile(`{ ${JSON.stringify(text)}: 1 }`).evaluate({}, {}) as object;
        expect(Object.entries(result)).toEqual([[text, 1]]);
      }),
    );
  });

  test.each(["return", "input", "bindings", "runtime", "context", "constants", "t1", "ünïcode", "this"])(
    "$%s is an ordinary variable",
    (name) => {
      const source = `($x := $${name}; $${name} := $x & '!'; $f := function($${name}){ $${name} }; $f($${name}))`;
      expect(compile(source).evaluate({}, { [name]: "v" })).toBe("v!");
    },
  );

  test.each(["constructor", "__proto__", "hasOwnProperty", "valueOf", "toString", "length", "prototype"])(
    "%s does not reach JavaScript's globals",
    async (name) => {
      const sources = [
        name,
        `a.${name}`,
        `list.${name}`,
        `$x.${name}`,
        `'text'.${name}`,
        `$${name}`,
        `$f.${name}`,
      ];
      const bindings = { x: {}, f: () => 1 };
      for (const source of sources) {
        const result = await compile(source.replace("'text'", "(text)")).evaluate(
          { a: {}, list: [{}], text: "t" },
          bindings,
        );
        expect(result).toBeUndefined();
      }
    },
  );
});

test("the compiler reports which expressions it compiled", () => {
  const { result, expressions } = collectExpressions(() => [compile("a"), compile("b")].length);
  expect(result).toBe(2);
  expect(expressions.map(({ source }) => source)).toEqual(["a", "b"]);
});
