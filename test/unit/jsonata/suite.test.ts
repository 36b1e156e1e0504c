import { describe, expect, test } from "vitest";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compile, type Expression, type ExpressionError } from "../../../src/jsonata/index.ts";
import { interpret } from "../../../src/jsonata/interpret.ts";

/** JSONata's own test cases, where a checkout has them beside it. */
const SUITE = "../shared/jsonata-suite";

interface Case {
  readonly expr: string;
  readonly data?: unknown;
  readonly dataset?: string | null;
  readonly bindings?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly undefinedResult?: boolean;
  readonly code?: string;
  readonly error?: { readonly code: string };
}

const readJson = (...path: string[]): unknown => JSON.parse(readFileSync(join(SUITE, ...path), "utf8"));

/** Every case with the name of its file. */
function cases(): (readonly [string, Case])[] {
  return readdirSync(join(SUITE, "groups"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => [readJson("groups", name)].flat().map((found) => [name, found as Case] as const));
}

const inputOf = ({ data, dataset }: Case): unknown =>
  data ?? (dataset ? readJson("datasets", `${dataset}.json`) : undefined);

interface Outcome {
  readonly value?: unknown;
  readonly code?: string;
}

const wanted = ({ result, undefinedResult, code, error }: Case): Outcome =>
  undefinedResult || result !== undefined ? { value: result } : { code: code ?? error?.code ?? "none" };

/** Cases that JSONata passes and the gateway rejects on purpose: the list has more items than it allows. */
const REJECTED: Readonly<Record<string, string>> = { "range-operator/case021.json": "D2015" };

/** The result as JSON, or the code of the error. */
async function outcome(make: (source: string) => Expression, one: Case): Promise<Outcome> {
  try {
    const value = await make(one.expr).evaluate(inputOf(one), one.bindings ?? {});
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

function suite(): void {
  test("the compiler passes each case of the JSONata suite that the interpreter passes", async () => {
    const wrong: unknown[] = [];
    let passed = 0;
    const left = new Map<string, number>();
    for (const [name, one] of cases()) {
      const rejection = REJECTED[name];
      const right = rejection === undefined ? wanted(one) : { code: rejection };
      const [interpreted, compiled] = [await outcome(interpret, one), await outcome(compile, one)];
      if (rejection !== undefined && !isSame(interpreted, right)) wrong.push({ name, right, interpreted });
      if (!isSame(interpreted, right)) continue;
      passed += 1;
      const reason = fallback(one.expr);
      if (reason !== undefined) left.set(reason, (left.get(reason) ?? 0) + 1);
      if (!isSame(compiled, right)) wrong.push({ name, expr: one.expr, right, compiled });
    }
    const interpreted = [...left.values()].reduce((sum, count) => sum + count, 0);
    process.stdout.write(`${passed} cases, of them left to the interpreter: ${interpreted}\n`);
    for (const [reason, count] of left) process.stdout.write(`  ${count}: ${reason}\n`);
    expect(wrong).toEqual([]);
    expect(interpreted / passed).toBeLessThan(0.1);
  }, 120_000);
}

function isSame(one: Outcome, other: Outcome): boolean {
  try {
    expect(one).toEqual(other);
    return true;
  } catch {
    return false;
  }
}

const when = existsSync(SUITE) ? describe : describe.skip;

when(`JSONata's own test cases (${SUITE})`, suite);
