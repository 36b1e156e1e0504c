/** Makes the smallest counterexample of a mismatch, and the golden case of it. */
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../base/index.ts";
import type { Place } from "../../migration/index.ts";
import { ANSWER, type Mismatch } from "./check-answer.ts";
import { MISSING } from "./described-answer.ts";
import type { Answers, OperationEdit, RouteTrial } from "./route-trial.ts";
import { shrinkAnswer } from "./shrink-answer.ts";
import type { Counterexample } from "./type-report.ts";

/** The smallest value of a type, in a golden case: whoever mends the pack writes the right one. */
function placeholder(place: Place | undefined): unknown {
  const { types = new Set<string>(), words } = place ?? {};
  if (types.has("null") || types.size === 0) return null;
  const [word] = words ?? [];
  if (word !== undefined && types.has("string")) return word;
  if (types.has("string")) return "";
  if (types.has("boolean")) return false;
  if (types.has("array")) return [];
  return types.has("object") ? {} : 0;
}

/** A copy of an answer with another value at a place, in all items of lists. */
function withValue(body: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...deeper] = path;
  if (key === undefined) return value;
  if (Array.isArray(body)) return body.map((item) => withValue(item, path, value));
  if (!isObject(body)) return body;
  if (deeper.length > 0 || value !== MISSING) return { ...body, [key]: withValue(body[key], deeper, value) };
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== key));
}

/** The changed members of an operation that are still there. */
const keptOf = (edits: readonly OperationEdit[], key: string): (readonly string[])[] =>
  edits.flatMap(({ operation, edit: { path, value } }) =>
    operation.key === key && value !== MISSING && path.length > 0 ? [path] : [],
  );

/** Shrinks the answers of a mismatch. @param edits The changes of the usual answers that it needs */
export async function describeCounterexample(
  trial: RouteTrial,
  {
    edits,
    mismatch,
    field,
  }: { readonly edits: readonly OperationEdit[]; readonly mismatch: Mismatch; readonly field: string },
): Promise<Counterexample> {
  const answers = trial.build(edits);
  await trial.run(answers);
  const [main] = trial.called();
  const keys = answers.size > 0 ? [...answers.keys()] : [main?.key ?? ""];
  const usual = new Map(trial.called().map(({ key, answer }) => [key, answer.build()]));
  const whole: Answers = new Map(keys.map((key) => [key, answers.get(key) ?? usual.get(key)]));
  const before = new Set((await trial.run(whole)).mismatches.map(({ place }) => place));

  /** Makes all answers smaller. @param isStrict Whether no other field may have another type */
  async function shrink(isStrict: boolean): Promise<Answers> {
    let smallest = whole;
    for (const key of keys)
      smallest = new Map(smallest).set(
        key,
        await shrinkAnswer(smallest.get(key), keptOf(edits, key), async (candidate) => {
          const { mismatches } = await trial.run(new Map(smallest).set(key, candidate));
          const isSame = mismatches.some((each) => isDeepStrictEqual(each, mismatch));
          return isSame && (!isStrict || mismatches.every(({ place }) => before.has(place)));
        }),
      );
    return smallest;
  }

  const smallest = await shrink(false);
  const valid = await shrink(true);
  const { body } = await trial.run(valid);
  const path = mismatch.place.split(".").slice(1);
  const isExtra = mismatch.expected === "no such member";
  const fallback = body ?? (await trial.run(trial.build([]))).body;
  const expected =
    mismatch.place === ANSWER && path.length === 0 && body === undefined
      ? fallback
      : withValue(body, path, isExtra ? MISSING : placeholder(trial.type.places.get(mismatch.place)));
  const shown = keys.length === 1 ? smallest.get(keys[0] ?? "") : Object.fromEntries(smallest);
  return {
    route: trial.route.name,
    operation: keys.join(", "),
    answer: shown,
    actual: mismatch.actual,
    expected: mismatch.expected,
    golden: await trial.writeGolden(valid, `Counterexample of ${field}: ${mismatch.expected}`, expected),
  };
}
