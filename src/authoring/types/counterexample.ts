/** Finds the smallest responses that show a mismatch, and creates a golden case from them. */
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../base/index.ts";
import { ANSWER, findMismatches, type Mismatch, type Schema } from "./answer-schema.ts";
import {
  type Body,
  type Change,
  partAt,
  type Path,
  type RouteTrial,
  startsWith,
  withValue,
} from "./route-trial.ts";
import type { Counterexample } from "./type-report.ts";

/** Returns the paths of all members of a body, outer ones first. The items of a list have the same paths. */
export function pathsIn(part: unknown, path: Path = []): Path[] {
  if (Array.isArray(part)) return part.flatMap((item) => pathsIn(item, path));
  const members = Object.entries(isObject(part) ? part : {});
  const paths = members.flatMap(([key, member]) => [[...path, key], ...pathsIn(member, [...path, key])]);
  return [...new Map(paths.map((each) => [JSON.stringify(each), each])).values()].toSorted(
    (one, other) => one.length - other.length,
  );
}

/** Creates the counterexample of a mismatch. @param changes changes of the golden case that lead to it */
export async function describeCounterexample(
  trial: RouteTrial,
  { keyword: _keyword, ...mismatch }: Mismatch,
  changes: readonly Change[],
  { field, schema }: { readonly field: string; readonly schema: Schema | undefined },
): Promise<Counterexample> {
  const { route, answers } = trial;
  const { place, expected, actual } = mismatch;
  const places = new Set((await trial.run(changes)).mismatches.map((each) => each.place));
  // In smaller responses, no other field may have a wrong type.
  const shows = async (tried: readonly Change[]): Promise<boolean> => {
    const { mismatches } = await trial.run(tried);
    const same = mismatches.find((each) => each.place === place);
    const isSame = same?.expected === expected && isDeepStrictEqual(same.actual, actual);
    return isSame && mismatches.every((each) => places.has(each.place));
  };
  const changed = answers.filter(({ at }) => changes.some(({ path }) => startsWith(path, at)));
  const shown = changed.length > 0 ? changed : answers.slice(0, 1);
  let smallest = changes;
  for (const path of shown.flatMap(({ at }) => pathsIn(partAt(trial.change([]), at), at))) {
    const isChanged = smallest.some((each) => startsWith(each.path, path) || startsWith(path, each.path));
    const smaller = [...smallest, { path, value: undefined }];
    if (!isChanged && (await shows(smaller))) smallest = smaller;
  }
  const { body, received } = await trial.run(smallest);
  const isFailure = place === ANSWER && body === undefined;
  const { body: usualBody } = await trial.run([]);
  // A placeholder: the author who corrects the pack writes the right value.
  const allowed = [null, ...(schema?.enum ?? []), "", false, 0, [], {}];
  const value = schema && allowed.find((each) => findMismatches(each, schema).length === 0);
  const corrected = isFailure ? usualBody : withValue(body, place.split(".").slice(1), value);
  const bodies = shown.map(
    ({ operation, at }) => [operation.key, partAt(trial.change(smallest), at)] as const,
  );
  return {
    route: route.name,
    operation: bodies.map(([key]) => key).join(", "),
    answer: bodies.length === 1 ? bodies[0]?.[1] : Object.fromEntries(bodies),
    actual,
    expected,
    golden: {
      ...trial.writeGolden(smallest, received),
      title: `Counterexample of ${field}: ${expected}`,
      response: { status: route.status, body: corrected as Body },
    },
  };
}
