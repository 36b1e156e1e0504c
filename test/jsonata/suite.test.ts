import { expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { compile, type ExpressionError } from "../../src/jsonata/index.ts";

/** A case of JSONata's own tests: `test/spec/jsonata/README.md`. */
interface Case {
  readonly name: string;
  readonly expression: string;
  readonly input?: unknown;
  readonly dataset?: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly value?: unknown;
  readonly error?: string;
}

const readLines = <T>(name: string): T[] =>
  readFileSync(join("test/spec/jsonata", name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as T);

const cases = readLines<Case>("cases.jsonl");
const datasets = new Map(
  readLines<{ name: string; value: unknown }>("datasets.jsonl").map(({ name, value }) => [name, value]),
);

/** Returns a copy of the input of a case: an evaluation may change it. */
const inputOf = ({ input, dataset }: Case): unknown =>
  structuredClone(dataset === undefined ? input : datasets.get(dataset));

type Outcome = { readonly value: unknown } | { readonly code: string | undefined };

const wanted = ({ value, error }: Case): Outcome => (error === undefined ? { value } : { code: error });

/** The result as JSON, or the code of the error. */
async function outcome(one: Case): Promise<Outcome> {
  try {
    const value = await compile(one.expression).evaluate(inputOf(one), one.variables ?? {});
    return { value: value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown) };
  } catch (error) {
    return { code: (error as ExpressionError).jsonataCode };
  }
}

/** Objects with computed keys, and a function that calls itself, are interpreted. */
const INTERPRETED = [
  "object-constructor/case009",
  "object-constructor/case012",
  "object-constructor/case014",
  "tail-recursion/case001",
];

test("the other cases are compiled", () => {
  const left = cases.filter(({ expression }) => compile(expression).engine !== "compiled");
  expect(left.map(({ name }) => name)).toEqual(INTERPRETED);
});

test("compiled expressions pass the cases of JSONata's own tests", async () => {
  const wrong: unknown[] = [];
  for (const one of cases) {
    const actual = await outcome(one);
    if (!isDeepStrictEqual(actual, wanted(one))) wrong.push({ ...one, actual });
  }
  expect(wrong).toEqual([]);
}, 120_000);
