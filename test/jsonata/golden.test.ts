import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { parse as parseYaml } from "yaml";
import { toJsonText } from "../../src/base/json/text.ts";
import { walk } from "../../src/jsonata/ast.ts";
import { compile } from "../../src/jsonata/index.ts";
import { interpret, parse } from "../../src/jsonata/interpret.ts";
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
const all = Object.entries(golden.cases).flatMap(([title, cases]) =>
  cases.map((one) => ({ title, source: one.expr, ...one })),
);
const compiled = all.filter(({ title }) => title !== INTERPRETED);

const BINDINGS = { given: "G", call: (one: number, other: number) => one + other };

const ENGINES = [
  ["interpreted", interpret],
  ["compiled", compile],
] as const;

describe.each(ENGINES)("%s", (_name, make) => {
  const evaluate = async ({ expr, input = golden.input }: Case): Promise<unknown> =>
    make(expr).evaluate(structuredClone(input), BINDINGS);

  test.each(all.filter(({ code }) => code === undefined))("$title: $source", async (one) => {
    expect(await evaluate(one)).toStrictEqual(one.result);
  });

  test.each(all.filter(({ code }) => code === undefined))(
    "$title: $source is printed as JSON",
    async (one) => {
      const { expr, input = golden.input, result } = one;
      expect(await make(expr).print(structuredClone(input), BINDINGS)).toBe(toJsonText(result));
    },
  );

  test.each(all.filter(({ code }) => code !== undefined))("$title: $source fails", async (one) => {
    await expect(evaluate(one)).rejects.toMatchObject({ jsonataCode: one.code, offset: one.offset });
  });
});

test.each(compiled.filter(({ code = "" }) => !code.startsWith("S0")))("$source is compiled", ({ expr }) => {
  expect(compile(expr)).toMatchObject({ engine: "compiled", code: expect.stringContaining("return") });
});

test.each(all.filter(({ title, code = "" }) => title === INTERPRETED && !code.startsWith("S0")))(
  "$source is left to the interpreter, with a reason",
  ({ expr }) => {
    expect(compile(expr)).toMatchObject({ engine: "interpreted", fallback: expect.stringMatching(/./) });
  },
);

/** All kinds of nodes that JSONata's parser returns. */
const KINDS =
  "apply bind binary block condition descendant function lambda name number operator parent partial path regex string " +
  "transform unary value variable wildcard";

test("the golden cases cover every kind of node and every built-in function", () => {
  const kinds = new Set<string>();
  const names = new Set<string>();
  for (const { expr, code = "" } of compiled.filter((one) => !one.code?.startsWith("S0")))
    walk(parse(expr), (node) => {
      if (code !== "D1011") kinds.add(node.type);
      if (node.type === "variable") names.add(String(node.value));
    });
  expect(KINDS.split(" ").filter((kind) => !kinds.has(kind))).toEqual([]);
  expect(Object.keys(BUILTINS).filter((name) => !names.has(name))).toEqual([]);
});
