import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import { toJsonText } from "../../../src/dialect/json/text.ts";
import { walk, type Node } from "../../../src/jsonata/ast.ts";
import { compile, type Expression, type ExpressionError } from "../../../src/jsonata/index.ts";
import { interpret, parse } from "../../../src/jsonata/interpret.ts";
import { documents, expressions } from "./generated-expressions.ts";

const BINDINGS = { y: { a: 1, b: [1, 2] }, f: (value: unknown) => value, v: "V" };

interface Outcome {
  readonly value?: unknown;
  readonly code?: string;
}

async function outcome(
  make: (source: string) => Expression,
  source: string,
  input: unknown,
): Promise<Outcome> {
  try {
    return { value: withoutHoles(await make(source).evaluate(input, BINDINGS)) };
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

/** The interpreter writes into its own empty arrays too: what it wrote is nothing. */
function withoutHoles(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((member) => member !== undefined).map(withoutHoles);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutHoles(member)]));
}

/** The interpreter evaluates members side by side: if two fail, either can be the first. */
function races(source: string): boolean {
  let found = false;
  walk(parse(source), (node) => {
    const members = (node["expressions"] ?? node["lhs"]) as readonly Node[] | Node | undefined;
    const pairs = (node.group as { readonly lhs: readonly unknown[] } | undefined)?.lhs;
    if (node.type === "unary" && Array.isArray(members) && members.length > 1) found = true;
    if (pairs && pairs.length > 1) found = true;
    if (node.type === "unary" && node.value === "{") found = true;
  });
  return found;
}

/** Sources that parse: some ask for the parent of what has none. */
const parsing = expressions.filter((source) => {
  try {
    parse(source);
    return true;
  } catch {
    return false;
  }
});

test("a compiled expression gives what the interpreter gives, whatever the expression and its input", async () => {
  await fc.assert(
    fc.asyncProperty(parsing, documents, async (source, input) => {
      const interpreted = await outcome(interpret, source, frozen(structuredClone(input)));
      // An error of JavaScript inside the interpreter is a mistake of the interpreter, and its clock runs for it alone.
      fc.pre(!["unknown", "D1011", "D1012"].includes(interpreted.code ?? ""));
      const compiled = await outcome(compile, source, input);
      const bothFail = interpreted.code !== undefined && compiled.code !== undefined;
      expect(bothFail && races(source) ? interpreted : compiled).toEqual(interpreted);
    }),
    { numRuns: 1500 },
  );
}, 60_000);

/** What a run gives, or the code of its error. */
function given(run: () => unknown): unknown {
  try {
    return run();
  } catch (error) {
    return (error as ExpressionError).jsonataCode;
  }
}

test("what an expression prints is the text of what it evaluates to", () => {
  fc.assert(
    fc.property(parsing, documents, (source, input) => {
      const expression = compile(source);
      fc.pre(expression.engine === "compiled");
      const value = given(() => toJsonText(expression.evaluate(input, BINDINGS)));
      expect(given(() => expression.print(input, BINDINGS))).toEqual(value);
    }),
    { numRuns: 400 },
  );
}, 60_000);

test("an input of the members that an expression reads gives what the whole input gives", () => {
  fc.assert(
    fc.property(parsing, documents, (source, input) => {
      const expression = compile(source);
      const { reads } = expression;
      const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
      fc.pre(expression.engine === "compiled" && isObject);
      if (reads === "all") return;
      const some = Object.fromEntries(Object.entries(input).filter(([name]) => reads.has(name)));
      const run = (of: unknown) => given(() => toJsonText(expression.evaluate(of, BINDINGS)));
      expect(run(some)).toEqual(run(input));
    }),
    { numRuns: 400 },
  );
}, 60_000);

test("an evaluation leaves its input as it was", () => {
  fc.assert(
    fc.property(parsing, documents, (source, input) => {
      const expression = compile(source);
      fc.pre(expression.engine === "compiled");
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

describe("an expression that finds nothing without the members of a variable", () => {
  test.each([
    "$x.a",
    "$x.a.b[c = 1]^(d)[0].$merge([$, { 'e': $$.a }])",
    "$floor($x.a.b / 10)",
    "10 * $x.a",
    '$x.a.b = "c" ? $x.a.d.$merge([$])',
    '$x.a = 1 and $error("never") ? 1 : $x.b',
  ])("is %s", (source) => {
    const { missingWithout, evaluate } = compile(source);
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
  ])("is not known of %s", (source) => expect(compile(source).missingWithout).toEqual(new Set()));

  test("does so whatever its input is", () => {
    fc.assert(
      fc.property(parsing, documents, (source, input) => {
        const expression = compile(source);
        fc.pre(expression.engine === "compiled");
        for (const name of expression.missingWithout)
          expect(given(() => expression.evaluate(input, { ...BINDINGS, [name]: {} }))).toEqual(
            given(() => undefined),
          );
      }),
      { numRuns: 400 },
    );
  }, 60_000);
});
