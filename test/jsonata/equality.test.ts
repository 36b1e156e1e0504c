import { describe, expect, test } from "@jest/globals";
import * as fc from "fast-check";
import { toJsonText, type JsonText } from "../../src/base/json/text.ts";
import { walk, type AstNode } from "../../src/jsonata/language/ast.ts";
import { compile, type Expression, type ExpressionError, type InputNames } from "../../src/jsonata/index.ts";
import { interpret } from "../../src/jsonata/interpreter/interpret.ts";
import { parse } from "../../src/jsonata/interpreter/parse.ts";
import { documents, expressions, objects } from "./generated-expressions.ts";

const BINDINGS = { y: { a: 1, b: [1, 2] }, f: (value: unknown) => value, v: "V" };

interface Outcome {
  readonly value?: unknown;
  readonly text?: JsonText;
  readonly code?: string;
}

/** The value and the printed text of an expression, or the code of its error. */
async function outcome(
  make: (source: string) => Pick<Expression, "evaluate" | "print">,
  source: string,
  input: unknown,
): Promise<Outcome> {
  try {
    const expression = make(source);
    const value = await expression.evaluate(input, BINDINGS);
    return { value, text: await expression.print(input, BINDINGS) };
  } catch (error) {
    return { code: (error as ExpressionError).jsonataCode };
  }
}

/** Freezes a document, since the interpreter writes into empty arrays that are the context of `{ }`. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

/** The interpreter evaluates members side by side: if two fail, either can be the first. */
function races(source: string): boolean {
  let found = false;
  walk(parse(source), (node) => {
    const members = (node["expressions"] ?? node["lhs"]) as readonly AstNode[] | AstNode | undefined;
    const pairs = (node.group as { readonly lhs: readonly unknown[] } | undefined)?.lhs;
    if (node.type === "unary" && Array.isArray(members) && members.length > 1) found = true;
    if (pairs && pairs.length > 1) found = true;
    if (node.type === "unary" && node.value === "{") found = true;
  });
  return found;
}

/** Sources that parse. Some ask for the parent of a value without one. */
const parsing = expressions.filter((source) => {
  try {
    parse(source);
    return true;
  } catch {
    return false;
  }
});

/** Sources that are compiled. */
const compiled = parsing.filter((source) => compile(source).engine === "compiled");

test("a compiled expression returns and prints what the interpreter returns, for any expression and input", async () => {
  await fc.assert(
    fc.asyncProperty(parsing, documents, async (source, input) => {
      const interpreted = await outcome(interpret, source, frozen(structuredClone(input)));
      // An error of JavaScript inside the interpreter is a mistake of the interpreter, and the two count steps differently.
      fc.pre(!["unknown", "D1011", "D1012"].includes(interpreted.code ?? ""));
      const compiled = await outcome(compile, source, input);
      const bothFail = interpreted.code !== undefined && compiled.code !== undefined;
      expect(bothFail && races(source) ? interpreted : compiled).toEqual(interpreted);
    }),
    { numRuns: 1500 },
  );
}, 300_000);

/** What a run gives, or the code of its error. */
function given(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return (error as ExpressionError).jsonataCode;
  }
}

test.each<[what: string, items: readonly unknown[]]>([
  ["order keys without an order, such as 0/0", [0, 3, 0, 2, 1].map((a, n) => ({ n, a, b: Number(a > 0) }))],
  ["report the same error of several", [{ a: 1 }, { a: "a" }, { a: {} }].map((item) => ({ ...item, b: 1 }))],
])("both engines %s", async (_what, items) => {
  const source = "items^(a = 0 ? a / b : a).n";
  expect(await outcome(compile, source, { items })).toEqual(await outcome(interpret, source, { items }));
});

test("the printed result is the JSON of the evaluated result", () => {
  fc.assert(
    fc.property(compiled, documents, (source, input) => {
      const expression = compile(source);
      const value = given(() => toJsonText(expression.evaluate(input, BINDINGS)));
      expect(given(() => expression.print(input, BINDINGS))).toEqual(value);
    }),
    { numRuns: 400 },
  );
}, 60_000);

/** Each object with only the members that are read. Other values stay unchanged. */
function membersRead(value: unknown, reads: InputNames): unknown {
  if (reads === "all" || typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = [...reads].map(([name, inner]): [string, unknown] => [
    name,
    Object.hasOwn(value, name) ? membersRead((value as Record<string, unknown>)[name], inner) : undefined,
  ]);
  return Object.fromEntries(members);
}

test("an input reduced to the members that an expression reads gives the same result", () => {
  fc.assert(
    fc.property(compiled, objects, (source, input) => {
      const expression = compile(source);
      const { inputNames: reads } = expression;
      if (reads === "all") return;
      const some = membersRead(input, reads);
      const run = (of: unknown) => given(() => toJsonText(expression.evaluate(of, BINDINGS)));
      expect(run(some)).toEqual(run(input));
    }),
    { numRuns: 400 },
  );
}, 60_000);

describe("detecting an expression that returns a variable unchanged or nothing", () => {
  /** Conditions in conditions, whose branches are `$chosen`, null or missing. */
  const choices = fc.letrec<{ choice: string; branch: string }>((tie) => ({
    choice: fc
      .tuple(compiled, tie("branch"), fc.option(tie("branch")))
      .map(([test, then, other]) => `(${test}) ? ${then}${other === null ? "" : ` : ${other}`}`),
    branch: fc.oneof(
      { depthSize: "small", maxDepth: 3 },
      fc.constantFrom("$chosen", "($chosen)", "null"),
      tie("choice").map((inner) => `(${inner})`),
    ),
  })).choice;

  const bindings = { ...BINDINGS, chosen: "V" };

  test("returns the variable exactly if the test is true", () => {
    fc.assert(
      fc.property(choices, documents, (source, input) => {
        const { choice, engine, evaluate } = compile(source);
        fc.pre(engine === "compiled" && source.includes("$chosen"));
        const value = given(() => evaluate(input, bindings) ?? "nothing");
        expect(choice?.variable).toBe("chosen");
        expect(given(() => (choice?.isChosen(input, bindings) ? bindings.chosen : "nothing"))).toEqual(value);
      }),
      { numRuns: 300 },
    );
  }, 60_000);

  test("knows the variables of the test only", () => {
    expect(compile('$type($value) = "string" and a ? $value').choice?.variables).toEqual(
      new Set(["type", "value"]),
    );
    expect(compile("a.b = false ? null : $value").choice?.variables).toEqual(new Set());
  });

  test.each([
    "$v",
    "a",
    "a ? $v : 1",
    "a ? $v : $w",
    "a ? [$v]",
    "a ? $v.b",
    "a ? $v[0]",
    "a ? $ : null",
    "a ? null",
  ])("%s is not one", (source) => {
    expect(compile(source).choice).toBeUndefined();
  });
});

test.each([
  ["a.b.c = 1", { a: { b: { c: "all" } } }],
  ["a.b = 1 and a.c", { a: { b: "all", c: "all" } }],
  ["a.b & $string(a)", { a: "all" }],
  ["$$.a.b", { a: { b: "all" } }],
  ["a.b[c = 1].d", { a: { b: "all" } }],
  ["a[0].b", { a: "all" }],
  ["a.(b + c)", { a: "all" }],
  ["a.b{c: d}", { a: { b: "all" } }],
  ["a.b[]", { a: { b: "all" } }],
] as const)("%s reads only what its paths name", (source, paths) => {
  const plain = (reads: InputNames): unknown =>
    reads === "all" ? reads : Object.fromEntries([...reads].map(([name, inner]) => [name, plain(inner)]));
  expect(plain(compile(source).inputNames)).toEqual(paths);
});

test.each(["a.*", "a.b.%", "$", "**.a", "a.__proto__", "__proto__.a"])("%s reads all", (source) => {
  expect(compile(source).inputNames).toBe("all");
});

test("an evaluation does not change its input", () => {
  fc.assert(
    fc.property(compiled, documents, (source, input) => {
      const expression = compile(source);
      const copy: unknown = structuredClone(input);
      try {
        expression.evaluate(input, BINDINGS);
      } catch {
        // What fails leaves its input alone too.
      }
      expect(input).toEqual(copy);
    }),
    { numRuns: 500 },
  );
});

describe("detecting an expression that returns nothing without the members of a variable", () => {
  test.each([
    "$x.a",
    "$x.a.b[c = 1]^(d)[0].$merge([$, { 'e': $$.a }])",
    "$floor($x.a.b / 10)",
    "10 * $x.a",
    '$x.a.b = "c" ? $x.a.d.$merge([$])',
    '$x.a = 1 and $error("never") ? 1 : $x.b',
  ])("%s is one", (source) => {
    const { requiredVariables: missingWithout, evaluate } = compile(source);
    expect(missingWithout).toEqual(new Set(["x"]));
    expect(evaluate({ a: [{ b: 1 }] }, { x: {} })).toBeUndefined();
  });

  test.each([
    "$x",
    "[$x.a]",
    "$x.a{b: c}",
    "$x.a[]",
    "$x.a & 1",
    "$x.a = a ? 1",
    "$x.a ? 1 : 2",
    "$exists($x.a)",
    "$x.a + b",
    "($x := a; $x.a)",
    "$map($x.a, function($y) { $y })",
    "$floor($x)",
    "$sum($x.a)",
    "$x[0].a",
    "$x.a[$error()]",
  ])("%s is not one", (source) => expect(compile(source).requiredVariables).toEqual(new Set()));

  test("the result is nothing for any input", () => {
    fc.assert(
      fc.property(parsing, documents, (source, input) => {
        const expression = compile(source);
        fc.pre(expression.engine === "compiled");
        for (const name of expression.requiredVariables)
          expect(given(() => expression.evaluate(input, { ...BINDINGS, [name]: {} }))).toEqual(
            given(() => undefined),
          );
      }),
      { numRuns: 400 },
    );
  }, 60_000);
});
