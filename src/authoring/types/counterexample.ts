/**
 * Finds the smallest responses that result in a value that the client's description does not allow, and creates a
 * golden case from them.
 */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { isObject } from "../../base/index.ts";
import { valueAt } from "../../pack/index.ts";
import { catalogRequest } from "../../compare/index.ts";
import type { Place } from "../../migration/index.ts";
import { type ExampleDefinition, withoutPrefix } from "../examples/example.ts";
import { ANSWER, withValue } from "./answer-tree.ts";
import { NO_MEMBER, type Mismatch } from "./check-answer.ts";
import type { DescribedOperation } from "./described-upstream.ts";
import { jsonOrText, type RouteTrial, type UpstreamAnswers } from "./route-trial.ts";
import type { Counterexample } from "./type-report.ts";

/** Maximum number of responses that are tried while they shrink. */
const MOST_TRIES = 600;

/** Returns the smallest responses that pass a test, as shrunk by fast-check; undefined if none of its cases passes. */
export async function findSmallest<T>(
  arbitrary: fc.Arbitrary<T>,
  shows: (answers: T) => Promise<boolean>,
  options: fc.Parameters<[T]>,
): Promise<T | undefined> {
  let left = MOST_TRIES;
  let hasFound = false;
  const property = fc.asyncProperty(arbitrary, async (answers) => {
    if (hasFound) left -= 1;
    if (left < 0 || !(await shows(answers))) return;
    hasFound = true;
    throw new Error("found");
  });
  const { counterexample } = await fc.check(property, options);
  return counterexample?.[0];
}

/** Returns the values at a path, in all items of lists. */
function valuesAt(part: unknown, path: readonly string[]): unknown[] {
  const [key, ...deeper] = path;
  if (key === undefined) return [part];
  if (Array.isArray(part)) return part.flatMap((item) => valuesAt(item, path));
  return isObject(part) ? valuesAt(part[key], deeper) : [];
}

/** Removes the members of a response that have their usual values, as long as the test still passes. */
async function leaveOutUsual(
  answer: unknown,
  { nodes, answers: { usual } }: DescribedOperation,
  shows: (smaller: unknown) => Promise<boolean>,
): Promise<unknown> {
  let smallest = answer;
  for (const { path } of nodes.filter(({ name }) => name !== ANSWER)) {
    const values = valuesAt(smallest, path).filter((value) => value !== undefined);
    const usualValues = [...valuesAt(usual, path), []];
    const isUsual = values.every((value) => usualValues.some((each) => isDeepStrictEqual(value, each)));
    const smaller = withValue(smallest, path, undefined);
    if (values.length > 0 && isUsual && (await shows(smaller))) smallest = smaller;
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

/**
 * Creates the counterexample of a mismatch. @param answers responses with the mismatch. Only the usual values become
 * smaller
 */
export async function describeCounterexample(
  trial: RouteTrial,
  mismatch: Mismatch,
  answers: UpstreamAnswers,
  field: string,
): Promise<Counterexample> {
  const { usual, route, operations } = trial;
  const shown = async (tried: UpstreamAnswers): Promise<readonly Mismatch[]> => {
    const { mismatches } = await trial.run(tried);
    return mismatches.some((each) => isDeepStrictEqual(each, mismatch)) ? mismatches : [];
  };
  // In smaller responses, no other field may have a wrong type.
  const places = new Set((await shown(answers)).map(({ place }) => place));
  const changed = operations.filter(({ key }) => !isDeepStrictEqual(answers[key], usual[key]));
  const shownOnes = changed.length > 0 ? changed : operations.slice(0, 1);
  const keys = shownOnes.map(({ key }) => key);
  const smallest = Object.fromEntries(keys.map((key) => [key, answers[key]]));
  for (const operation of shownOnes) {
    const { key } = operation;
    smallest[key] = await leaveOutUsual(answers[key], operation, async (smaller) => {
      const mismatches = await shown({ ...smallest, [key]: smaller });
      return mismatches.length > 0 && mismatches.every((each) => places.has(each.place));
    });
  }
  const { place, expected, actual } = mismatch;
  const { body: usualBody } = await trial.run(usual);
  const { body } = await trial.run(smallest);
  const described = trial.described.get(place);
  const value = expected === NO_MEMBER || !described ? undefined : placeholder(described.place);
  const isFailure = place === ANSWER && body === undefined;
  const corrected = isFailure ? usualBody : withValue(body, place.split(".").slice(1), value);
  return {
    route: route.name,
    operation: keys.join(", "),
    answer: keys.length === 1 ? smallest[keys[0] ?? ""] : smallest,
    actual,
    expected,
    golden: writeGolden(trial, `Counterexample of ${field}: ${expected}`, corrected) as ExampleDefinition,
  };
}
