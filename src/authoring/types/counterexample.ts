/**
 * Finds the smallest responses that result in a value that the client's description does not allow, and creates a
 * golden case from them.
 */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { valueAt } from "../../pack/index.ts";
import { catalogRequest } from "../../compare/index.ts";
import type { Place } from "../../migration/index.ts";
import type { Generation } from "../laws/generate-values.ts";
import { type ExampleDefinition, withoutPrefix } from "../examples/example.ts";
import { ANSWER, withValue } from "./answer-tree.ts";
import { NO_MEMBER, type Mismatch } from "./check-answer.ts";
import { type Change, changedAnswer, type DescribedOperation } from "./described-upstream.ts";
import { jsonOrText, type RouteTrial } from "./route-trial.ts";
import type { Counterexample } from "./type-report.ts";

/** Finds changes that only together pass a test, as few as possible; undefined if no case of fast-check passes it. */
export async function findTogether(
  changes: readonly Change[],
  shows: (tried: readonly Change[]) => Promise<boolean>,
  { seed, runs }: Generation,
): Promise<readonly Change[] | undefined> {
  if (changes.length < 2) return undefined;
  const several = fc.array(fc.constantFrom(...changes), { minLength: 2, maxLength: 6, size: "max" });
  const property = fc.asyncProperty(several, async (tried) => !(await shows(tried)));
  const { counterexample } = await fc.check(property, { seed, numRuns: runs });
  return counterexample?.[0];
}

const startsWith = (path: readonly string[], start: readonly string[]): boolean =>
  start.every((key, index) => path[index] === key);

/** Removes the members of a response that keep their usual values, as long as the test still passes. */
async function leaveOutUsual(
  changes: readonly Change[],
  { key, nodes }: DescribedOperation,
  shows: (tried: readonly Change[]) => Promise<boolean>,
): Promise<readonly Change[]> {
  let smallest = changes;
  for (const { path } of nodes) {
    const isChanged = smallest.some(
      (change) => change.key === key && (startsWith(change.path, path) || startsWith(path, change.path)),
    );
    const smaller = [...smallest, { key, path, value: undefined }];
    if (path.length > 0 && !isChanged && (await shows(smaller))) smallest = smaller;
  }
  return smallest;
}

/**
 * Returns the smallest value of a type, as a placeholder in a golden case. The author who corrects the pack writes the
 * right one.
 */
function placeholder({ types, words }: Place): unknown {
  if (types.has("null") || types.size === 0) return null;
  if (types.has("string")) return [...(words ?? [])][0] ?? "";
  if (types.has("boolean")) return false;
  if (types.has("array")) return [];
  return types.has("object") ? {} : 0;
}

/** Writes a golden case from the last request. @param body the body that clients should get */
function writeGolden(
  { pipeline, request, route, catalog }: RouteTrial,
  title: string,
  body: unknown,
): unknown {
  const { received } = pipeline.upstream;
  const { base_path: prefix, filters } = pipeline.pack.dialect.upstream;
  const calls = received.map(({ request: { method, path, headers, body: sent }, status, body: answer }) => {
    const filter = headers[filters?.header?.toLowerCase() ?? ""];
    return {
      request: `${method} ${withoutPrefix(path, prefix)}`,
      ...(filter !== undefined && { filter: JSON.parse(filter) as unknown }),
      ...(sent !== undefined && sent !== "" && { body: jsonOrText(sent) }),
      response: { status, body: answer },
    };
  });
  const lists = (catalog?.calls ?? []).map(({ path }) => catalogRequest(path));
  const catalogs = lists.map((list) => {
    const { operation, body: answer } = received.find((call) => call.operation?.key === list) ?? {};
    const rows = valueAt(answer, operation?.list?.items ?? []);
    return [list, Array.isArray(rows) ? rows : []] as const;
  });
  const source =
    lists.length > 0 ? { catalogs: Object.fromEntries(catalogs), upstream: [] } : { upstream: calls };
  return { title, ...request, ...source, response: { status: route.status, body } };
}

/** Creates the counterexample of a mismatch. @param changes changes of the usual responses that lead to it */
export async function describeCounterexample(
  trial: RouteTrial,
  mismatch: Mismatch,
  changes: readonly Change[],
  field: string,
): Promise<Counterexample> {
  const { route, operations } = trial;
  const { mismatches: all } = await trial.run(changes);
  const places = new Set(all.map(({ place }) => place));
  // In smaller responses, no other field may have a wrong type.
  const shows = async (tried: readonly Change[]): Promise<boolean> => {
    const { mismatches } = await trial.run(tried);
    const isSame = mismatches.some((each) => isDeepStrictEqual(each, mismatch));
    return isSame && mismatches.every((each) => places.has(each.place));
  };
  const changed = operations.filter(({ key }) => changes.some((change) => change.key === key));
  const shown = changed.length > 0 ? changed : operations.slice(0, 1);
  let smallest = changes;
  for (const operation of shown) smallest = await leaveOutUsual(smallest, operation, shows);
  const answers = shown.map((operation) => [operation.key, changedAnswer(operation, smallest)] as const);
  const { place, expected, actual } = mismatch;
  const { body: usualBody } = await trial.run([]);
  const { body } = await trial.run(smallest);
  const described = trial.described.get(place);
  const value = expected === NO_MEMBER || !described ? undefined : placeholder(described.place);
  const isFailure = place === ANSWER && body === undefined;
  const corrected = isFailure ? usualBody : withValue(body, place.split(".").slice(1), value);
  return {
    route: route.name,
    operation: answers.map(([key]) => key).join(", "),
    answer: answers.length === 1 ? answers[0]?.[1] : Object.fromEntries(answers),
    actual,
    expected,
    golden: writeGolden(trial, `Counterexample of ${field}: ${expected}`, corrected) as ExampleDefinition,
  };
}
