import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { parse as parseYaml } from "yaml";
import { toJsonText } from "../../src/base/json/text.ts";
import { walk } from "../../src/jsonata/language/ast.ts";
import { compile, type ExpressionError } from "../../src/jsonata/index.ts";
import { interpret } from "../../src/jsonata/interpreter/interpret.ts";
import { parse } from "../../src/jsonata/interpreter/parse.ts";
import { BUILTINS } from "../../src/jsonata/runtime/builtins/table.ts";

interface Case {
  readonly expr: string;
  readonly input?: unknown;
  readonly result?: unknown;
  readonly nothing?: true;
  readonly code?: string;
  readonly offset?: number;
}

interface Golden {
  readonly input: unknown;
  readonly cases: Readonly<Record<string, readonly Case[]>>;
}

const golden = parseYaml(readFileSync("test/jsonata/golden.yaml", "utf8")) as Golden;
const INTERPRETED = "left to the interpreter";
const all = Object.values(golden.cases).flat();
const left = golden.cases[INTERPRETED] ?? [];
const groups = Object.keys(golden.cases);
const parses = ({ code = "" }: Case): boolean => !code.startsWith("S0");

const BINDINGS = { given: "G", call: (one: number, other: number) => one + other };

const ENGINES = [
  ["interpreted", interpret],
  ["compiled", compile],
] as const;

/** What an evaluation gives, or the error. */
async function outcome(run: () => unknown): Promise<unknown> {
  try {
    return { result: await run() };
  } catch (error) {
    const { jsonataCode: code, offset } = error as ExpressionError;
    return { code, offset };
  }
}

describe.each(ENGINES)("%s", (_name, make) => {
  test.each(groups)("%s: each case has its result, its JSON, or its error", async (group) => {
    for (const { expr, input = golden.input, result, code, offset } of golden.cases[group] ?? []) {
      const evaluated = await outcome(() => make(expr).evaluate(structuredClone(input), BINDINGS));
      const expected = code === undefined ? { result } : { code, offset: offset ?? 0 };
      expect({ expr, ...(evaluated as object) }).toStrictEqual({ expr, ...expected });
      if (code !== undefined) continue;
      const text = await make(expr).print(structuredClone(input), BINDINGS);
      expect({ expr, text }).toEqual({ expr, text: toJsonText(result) });
    }
  });
});

test("the cases are compiled, except those that are left to the interpreter with a reason", () => {
  for (const one of all.filter(parses)) {
    const { engine, code, fallback } = compile(one.expr);
    const isLeft = left.includes(one);
    expect([one.expr, engine, Boolean(code), Boolean(fallback)]).toEqual([
      one.expr,
      isLeft ? "interpreted" : "compiled",
      !isLeft,
      isLeft,
    ]);
  }
});

/** All kinds of nodes that JSONata's parser returns. */
const KINDS =
  "apply bind binary block condition descendant function lambda name number operator parent partial path regex string " +
  "transform unary value variable wildcard";

test("the golden cases cover every kind of node and every built-in function", () => {
  const kinds = new Set<string>();
  const names = new Set<string>();
  for (const { expr, code } of all.filter(parses))
    walk(parse(expr), (node) => {
      if (code !== "D1011") kinds.add(node.type);
      if (node.type === "variable") names.add(String(node.value));
    });
  expect(KINDS.split(" ").filter((kind) => !kinds.has(kind))).toEqual([]);
  expect(Object.keys(BUILTINS).filter((name) => !names.has(name))).toEqual([]);
});
