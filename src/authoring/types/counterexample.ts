/**
 * Finds the smallest responses that result in a value that the client's description does not allow, and creates a
 * golden case from them.
 */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { isObject } from "../../base/index.ts";
import type { Place } from "../../migration/index.ts";
import type { Generation } from "../laws/generate-values.ts";
import type { ExampleDefinition } from "../examples/example.ts";
import { ANSWER, withValue } from "./answer-tree.ts";
import { NO_MEMBER, type Mismatch } from "./check-answer.ts";
import { type Change, changedBody, type RouteTrial, type TriedAnswer } from "./route-trial.ts";
import type { Counterexample } from "./type-report.ts";

type Body = ExampleDefinition["response"]["body"];

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

/** Returns the paths of all members of a body, outer ones first. The items of a list have the same paths. */
export function pathsIn(body: unknown): (readonly string[])[] {
  const paths = new Map<string, readonly string[]>();
  function add(part: unknown, path: readonly string[]): void {
    if (Array.isArray(part)) for (const item of part) add(item, path);
    else if (isObject(part))
      for (const [key, member] of Object.entries(part)) {
        const inner = [...path, key];
        paths.set(JSON.stringify(inner), inner);
        add(member, inner);
      }
  }
  add(body, []);
  return [...paths.values()].toSorted((one, other) => one.length - other.length);
}

/** Removes the unchanged members of a response, as long as the test still passes. */
async function leaveOutUnchanged(
  changes: readonly Change[],
  answer: TriedAnswer,
  shows: (tried: readonly Change[]) => Promise<boolean>,
): Promise<readonly Change[]> {
  let smallest = changes;
  for (const path of pathsIn(answer.body)) {
    const isChanged = smallest.some(
      (change) =>
        change.answer === answer && (startsWith(change.path, path) || startsWith(path, change.path)),
    );
    const smaller = [...smallest, { answer, path, value: undefined }];
    if (!isChanged && (await shows(smaller))) smallest = smaller;
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

/** Creates the counterexample of a mismatch. @param changes changes of the golden case that lead to it */
export async function describeCounterexample(
  trial: RouteTrial,
  mismatch: Mismatch,
  changes: readonly Change[],
  field: string,
): Promise<Counterexample> {
  const { route, answers } = trial;
  const { mismatches: all } = await trial.run(changes);
  const places = new Set(all.map(({ place }) => place));
  // In smaller responses, no other field may have a wrong type.
  const shows = async (tried: readonly Change[]): Promise<boolean> => {
    const { mismatches } = await trial.run(tried);
    const isSame = mismatches.some((each) => isDeepStrictEqual(each, mismatch));
    return isSame && mismatches.every((each) => places.has(each.place));
  };
  const changed = answers.filter((answer) => changes.some((change) => change.answer === answer));
  const shown = changed.length > 0 ? changed : answers.slice(0, 1);
  let smallest = changes;
  for (const answer of shown) smallest = await leaveOutUnchanged(smallest, answer, shows);
  const { place, expected, actual } = mismatch;
  const { body: usualBody } = await trial.run([]);
  const { body, received } = await trial.run(smallest);
  const described = trial.described.get(place);
  const value = expected === NO_MEMBER || !described ? undefined : placeholder(described.place);
  const isFailure = place === ANSWER && body === undefined;
  const corrected = isFailure ? usualBody : withValue(body, place.split(".").slice(1), value);
  const bodies = shown.map((answer) => [answer.operation.key, changedBody(answer, smallest)] as const);
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
