import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compile, type Expression, type ExpressionError } from "../../src/jsonata/index.ts";
import { interpret } from "../../src/jsonata/interpret.ts";

const FOLDER = "test/spec/jsonata";

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

const readText = (name: string): string => readFileSync(join(FOLDER, name), "utf8");

const cases = readText("cases.jsonl")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Case);

const datasets = JSON.parse(readText("datasets.json")) as Readonly<Record<string, unknown>>;

/** Returns a copy of the input of a case: an evaluation may change it. */
const inputOf = ({ input, dataset }: Case): unknown =>
  structuredClone(dataset === undefined ? input : datasets[dataset]);

interface Outcome {
  readonly value?: unknown;
  readonly code?: string;
}

const wanted = ({ value, error }: Case): Outcome => (error === undefined ? { value } : { code: error });

/** Cases that JSONata passes and the gateway rejects on purpose: the list has more items than it allows. */
const REJECTED: Readonly<Record<string, string>> = { "range-operator/case021": "D2015" };

/** The result as JSON, or the code of the error. */
async function outcome(make: (source: string) => Expression, one: Case): Promise<Outcome> {
  try {
    const value = await make(one.expression).evaluate(inputOf(one), one.variables ?? {});
    return { value: value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown) };
  } catch (error) {
    return { code: (error as ExpressionError).jsonataCode };
  }
}

/** Why an expression is not compiled; undefined where it is, and where it does not even parse. */
function fallback(source: string): string | undefined {
  try {
    return compile(source).fallback;
  } catch {
    return undefined;
  }
}

describe("JSONata's own test cases", () => {
  test("the compiler passes each case of the JSONata suite that the interpreter passes", async () => {
    const wrong: unknown[] = [];
    let passed = 0;
    const left = new Map<string, number>();
    for (const one of cases) {
      const { name, expression } = one;
      const rejection = REJECTED[name];
      const right = rejection === undefined ? wanted(one) : { code: rejection };
      const [interpreted, compiled] = [await outcome(interpret, one), await outcome(compile, one)];
      if (rejection !== undefined && !isSame(interpreted, right)) wrong.push({ name, right, interpreted });
      if (!isSame(interpreted, right)) continue;
      passed += 1;
      const reason = fallback(expression);
      if (reason !== undefined) left.set(reason, (left.get(reason) ?? 0) + 1);
      if (!isSame(compiled, right)) wrong.push({ name, expression, right, compiled });
    }
    const interpreted = [...left.values()].reduce((sum, count) => sum + count, 0);
    process.stdout.write(`${passed} cases, of them left to the interpreter: ${interpreted}\n`);
    for (const [reason, count] of left) process.stdout.write(`  ${count}: ${reason}\n`);
    expect(wrong).toEqual([]);
    expect(passed).toBeGreaterThan(1100);
    expect(interpreted / passed).toBeLessThan(0.1);
  }, 120_000);
});

function isSame(one: Outcome, other: Outcome): boolean {
  try {
    expect(one).toEqual(other);
    return true;
  } catch {
    return false;
  }
}
