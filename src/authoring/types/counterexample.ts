/**
 * Finds the smallest responses that result in a value that the client's description does not allow, and creates a
 * golden case from them.
 */
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../base/index.ts";
import type { ExampleDefinition } from "../examples/example.ts";
import { ANSWER, type Mismatch } from "./answer-schema.ts";
import { type Change, partAt, type Path, type RouteTrial, startsWith, withValue } from "./route-trial.ts";
import type { Counterexample } from "./type-report.ts";

/** Returns the paths of all members of a body, outer ones first. The items of a list have the same paths. */
export function pathsIn(body: unknown): Path[] {
  const paths = new Map<string, Path>();
  function add(part: unknown, path: Path): void {
    if (Array.isArray(part)) for (const item of part) add(item, path);
    else if (isObject(part))
      for (const [key, member] of Object.entries(part)) {
        paths.set(JSON.stringify([...path, key]), [...path, key]);
        add(member, [...path, key]);
      }
  }
  add(body, []);
  return [...paths.values()].toSorted((one, other) => one.length - other.length);
}

/** Creates the counterexample of a mismatch. @param changes changes of the golden case that lead to it */
export async function describeCounterexample(
  trial: RouteTrial,
  mismatch: Mismatch,
  changes: readonly Change[],
  field: string,
): Promise<Counterexample> {
  const { route, answers, described, facts } = trial;
  const { place, expected, actual } = mismatch;
  const { mismatches: all } = await trial.run(changes);
  const places = new Set(all.map((each) => each.place));
  // In smaller responses, no other field may have a wrong type.
  const shows = async (tried: readonly Change[]): Promise<boolean> => {
    const { mismatches } = await trial.run(tried);
    const isSame = mismatches.some((each) => isDeepStrictEqual(each, mismatch));
    return isSame && mismatches.every((each) => places.has(each.place));
  };
  const changed = answers.filter(({ at }) => changes.some(({ path }) => startsWith(path, at)));
  const shown = changed.length > 0 ? changed : answers.slice(0, 1);
  let smallest = changes;
  for (const { at } of shown)
    for (const inner of pathsIn(partAt(trial.changed([]), at))) {
      const path = [...at, ...inner];
      const isChanged = smallest.some((each) => startsWith(each.path, path) || startsWith(path, each.path));
      const smaller = [...smallest, { path, value: undefined }];
      if (!isChanged && (await shows(smaller))) smallest = smaller;
    }
  const { body, received } = await trial.run(smallest);
  const describedPlace = described.answer.get(place);
  const schema = describedPlace ? facts.schemas.ofPlace(describedPlace) : {};
  const isAllowed = facts.schemas.compile(schema);
  const value = [null, ...(schema.enum ?? []), "", false, 0, [], {}].find(
    (each) => describedPlace && isAllowed(each).length === 0,
  );
  const isFailure = place === ANSWER && body === undefined;
  const { body: usualBody } = await trial.run([]);
  const corrected = isFailure ? usualBody : withValue(body, place.split(".").slice(1), value);
  const bodies = shown.map(
    ({ operation, at }) => [operation.key, partAt(trial.changed(smallest), at)] as const,
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
      response: { status: route.status, body: corrected as ExampleDefinition["response"]["body"] },
    },
  };
}
