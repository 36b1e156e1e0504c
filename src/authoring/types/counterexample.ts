/** Makes the smallest counterexample of a mismatch, and the golden case of it. */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { isObject } from "../../base/index.ts";
import { type Pack, valueAt } from "../../pack/index.ts";
import type { Place } from "../../migration/index.ts";
import type { ExampleDefinition } from "../examples/example.ts";
import { ANSWER } from "./answer-tree.ts";
import { NO_MEMBER, type Mismatch } from "./check-answer.ts";
import { MISSING, withValue } from "./described-answer.ts";
import type { AnsweredCall } from "./described-upstream.ts";
import { withoutPrefix } from "./find-operation.ts";
import { jsonOrText, type Answers, type OperationEdit, type RouteTrial } from "./route-trial.ts";
import type { Counterexample } from "./type-report.ts";

/** Parts that are tried. */
const MOST_TRIES = 600;

/** Shrinks a value while it shows the same problem. @param parts The possible smaller values */
async function shrink<T>(whole: T, parts: fc.Arbitrary<T>, shows: (part: T) => Promise<boolean>): Promise<T> {
  let left = MOST_TRIES;
  const property = fc.asyncProperty(parts, async (part) => {
    left -= 1;
    return left < 0 || !(await shows(part));
  });
  const { counterexample } = await fc.check(property, { examples: [[whole]], numRuns: 1, seed: 1 });
  const [smallest = whole] = counterexample ?? [];
  return smallest;
}

/** The parts of a value: objects without some members, and lists without some items. @param kept The paths of members that stay */
function partsOf(value: unknown, kept: readonly (readonly string[])[]): fc.Arbitrary<unknown> {
  if (Array.isArray(value) && value.length > 0)
    return fc.array(fc.oneof(...value.map((item) => partsOf(item, kept))), { maxLength: value.length });
  if (!isObject(value)) return fc.constant(value);
  const below = (key: string) => kept.filter(([first]) => first === key).map((path) => path.slice(1));
  const members = Object.entries(value).map(([key, member]) => [key, partsOf(member, below(key))] as const);
  return fc.record(Object.fromEntries(members), {
    requiredKeys: Object.keys(value).filter((key) => below(key).length > 0),
  });
}

/**
 * The smallest value of a type, as a placeholder in a golden case. A person who corrects the pack writes the right
 * one.
 */
function placeholder({ types, words }: Place): unknown {
  if (types.has("null") || types.size === 0) return null;
  if (types.has("string")) return [...(words ?? [])][0] ?? "";
  if (types.has("boolean")) return false;
  if (types.has("array")) return [];
  return types.has("object") ? {} : 0;
}

/** The calls of the upstream as a golden case expects them. */
function writeCalls(calls: readonly AnsweredCall[], pack: Pack): ExampleDefinition["upstream"] {
  const { base_path: prefix, filters } = pack.dialect.upstream;
  return calls.map(({ request: { method, path, headers, body }, status, body: answer }) => {
    const filter = headers[filters?.header?.toLowerCase() ?? ""];
    return {
      request: `${method} ${withoutPrefix(prefix, path)}`,
      ...(filter !== undefined && { filter: JSON.parse(filter) as never }),
      ...(body !== undefined && body !== "" && { body: jsonOrText(body) as never }),
      response: { status, ...(answer !== undefined && { body: answer as never }) },
    };
  });
}

/** A golden case of the last request. @param body The body that clients should get */
function writeGolden(trial: RouteTrial, status: number, title: string, body: unknown): ExampleDefinition {
  const { lists, pipeline, request, route } = trial;
  const { received } = pipeline.upstream;
  const catalogs = lists.flatMap((list) => {
    const { operation, body: answer } = received.find((call) => call.operation?.key === list) ?? {};
    const rows = valueAt(answer, operation?.list?.items ?? []);
    return operation ? [[list, Array.isArray(rows) ? rows : []] as const] : [];
  });
  const hasCatalogs = catalogs.length > 0;
  return {
    title,
    ...request.written,
    ...(hasCatalogs && { catalogs: Object.fromEntries(catalogs) as never }),
    upstream: hasCatalogs ? [] : writeCalls(received, pipeline.pack),
    response: { status: status < 300 ? status : route.status, body: body as never },
  };
}

/** Makes the counterexample of a mismatch. @param edits The changes of the usual answers that show it */
export async function describeCounterexample(
  trial: RouteTrial,
  mismatch: Mismatch,
  edits: readonly OperationEdit[],
  field: string,
): Promise<Counterexample> {
  const shown = async (answers: Answers): Promise<readonly Mismatch[]> => {
    const { mismatches } = await trial.run(answers);
    return mismatches.some((each) => isDeepStrictEqual(each, mismatch)) ? mismatches : [];
  };
  const needed = await shrink(
    [...edits],
    fc.subarray([...edits]),
    async (some) => (await shown(trial.build(some))).length > 0,
  );
  const changed = trial.build(needed);
  // In smaller answers, other fields must keep their types.
  const places = new Set((await shown(changed)).map(({ place }) => place));
  const called = trial.called();
  const whole =
    changed.size > 0 ? changed : new Map(called.slice(0, 1).map(({ key, answer }) => [key, answer.build()]));
  const keys = [...whole.keys()];
  const kept = [
    ...keys.map((key) => [key]),
    ...needed.flatMap(({ operation, edit }) =>
      edit.value === MISSING ? [] : [[operation.key, ...edit.path]],
    ),
    ...trial.neededPaths(),
  ];
  const toAnswers = (all: unknown): Answers => new Map(Object.entries(all as object));
  const smallest = await shrink(
    Object.fromEntries(whole),
    partsOf(Object.fromEntries(whole), kept),
    async (some) => {
      const mismatches = await shown(toAnswers(some));
      return mismatches.length > 0 && mismatches.every((each) => places.has(each.place));
    },
  );
  const answers = toAnswers(smallest);
  const { place, expected, actual } = mismatch;
  const usual = (await trial.run(trial.build([]))).body;
  const { body, status } = await trial.run(answers);
  const node = trial.tree.get(place);
  const value = expected === NO_MEMBER || !node ? MISSING : placeholder(node.place);
  const isFailure = place === ANSWER && body === undefined;
  const corrected = isFailure ? usual : withValue(body, place.split(".").slice(1), value);
  return {
    route: trial.route.name,
    operation: keys.join(", "),
    answer: keys.length === 1 ? answers.get(keys[0] ?? "") : Object.fromEntries(answers),
    actual,
    expected,
    golden: writeGolden(trial, status, `Counterexample of ${field}: ${expected}`, corrected),
  };
}
