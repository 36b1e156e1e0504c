/** Makes the smallest counterexample of a mismatch, and the golden case of it. */
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { isObject } from "../../base/index.ts";
import { type Pack, valueAt } from "../../pack/index.ts";
import type { Place } from "../../migration/index.ts";
import type { ExampleDefinition } from "../examples/example.ts";
import { ANSWER, type AnswerNode } from "./answer-tree.ts";
import { NO_MEMBER, type Mismatch } from "./check-answer.ts";
import { MISSING } from "./described-answer.ts";
import type { AnsweredCall } from "./described-upstream.ts";
import { withoutPrefix } from "./find-operation.ts";
import { jsonOrText, type Answers, type OperationEdit, type RouteTrial } from "./route-trial.ts";
import type { Counterexample } from "./type-report.ts";

/** Parts that are tried. */
const MOST_TRIES = 600;

/** Finds a smallest part of a list that shows the same as all of it. */
async function shrinkList<T>(
  all: readonly T[],
  shows: (part: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let left = MOST_TRIES;
  const property = fc.asyncProperty(fc.subarray([...all]), async (part) => {
    left -= 1;
    return left < 0 || !(await shows(part));
  });
  const { counterexample } = await fc.check(property, { examples: [[[...all]]], numRuns: 1, seed: 1 });
  const [smallest] = (counterexample ?? []) as [T[]?];
  return smallest ?? all;
}

type Path = readonly string[];

const isIndex = (key: string): boolean => /^\d+$/.test(key);

/** The paths of all members and items of an answer, those of an object before those of its members. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const own = [...path, key];
    return [own, ...pathsIn(member, own)];
  });
}

/** A copy of an answer that has the members and items at some paths alone. */
function pick(value: unknown, isKept: (path: Path) => boolean, path: Path = []): unknown {
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).flatMap(([key, member]) => {
    const own = [...path, key];
    return isKept(own) ? [[key, pick(member, isKept, own)] as const] : [];
  });
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}

/** Finds a smallest answer that shows the same. @param kept The paths of members that it is about, in all items of lists */
async function shrinkAnswer(
  answer: unknown,
  kept: readonly Path[],
  shows: (answer: unknown) => Promise<boolean>,
): Promise<unknown> {
  const isAbout = (path: Path): boolean => {
    const names = path.filter((key) => !isIndex(key));
    return !isIndex(path.at(-1) ?? "") && kept.some((each) => names.every((name, at) => each[at] === name));
  };
  const pickThese = (paths: readonly Path[]): unknown => {
    const keys = new Set(paths.map((path) => JSON.stringify(path)));
    return pick(answer, (path) => isAbout(path) || keys.has(JSON.stringify(path)));
  };
  const others = pathsIn(answer).filter((path) => !isAbout(path));
  return pickThese(await shrinkList(others, (paths) => shows(pickThese(paths))));
}

/** The smallest value of a type, in a golden case: a person who corrects the pack writes the right one. */
function placeholder({ types, words }: Place): unknown {
  if (types.has("null") || types.size === 0) return null;
  if (types.has("string")) return [...(words ?? [])][0] ?? "";
  if (types.has("boolean")) return false;
  if (types.has("array")) return [];
  return types.has("object") ? {} : 0;
}

/** A copy of an answer with another value at a place, in all items of lists. */
function withValue(body: unknown, [key, ...deeper]: Path, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(body)) return body.map((item) => withValue(item, [key, ...deeper], value));
  if (!isObject(body)) return body;
  const { [key]: own, ...others } = body;
  if (deeper.length === 0 && value === MISSING) return others;
  return { ...body, [key]: withValue(own, deeper, value) };
}

const nodeAt = (root: AnswerNode, path: Path): AnswerNode | undefined =>
  path.reduce<AnswerNode | undefined>((node, key) => node?.members.get(key), root);

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

/** A golden case of what was sent last. @param body What clients should get */
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

/** The changed members of an operation that are still there. */
const changedPaths = (edits: readonly OperationEdit[], key: string): Path[] =>
  edits.flatMap(({ operation, edit: { path, value } }) =>
    operation.key === key && value !== MISSING && path.length > 0 ? [path] : [],
  );

/** Makes the counterexample of a mismatch. @param edits The changes of the usual answers that show it */
export async function describeCounterexample(
  trial: RouteTrial,
  mismatch: Mismatch,
  edits: readonly OperationEdit[],
  field: string,
): Promise<Counterexample> {
  const isShown = async (answers: Answers, others?: ReadonlySet<string>): Promise<boolean> => {
    const { mismatches } = await trial.run(answers);
    const isSame = mismatches.some((each) => isDeepStrictEqual(each, mismatch));
    return isSame && (!others || mismatches.every(({ place }) => others.has(place)));
  };
  const needed = await shrinkList(edits, (some) => isShown(trial.build(some)));
  const changed = trial.build(needed);
  const { mismatches } = await trial.run(changed);
  const [main] = trial.called();
  const keys = changed.size > 0 ? [...changed.keys()] : [main?.key ?? ""];
  const usual = new Map(trial.called().map(({ key, answer }) => [key, answer.build()]));
  let answers: Answers = new Map(keys.map((key) => [key, changed.get(key) ?? usual.get(key)]));
  // In a smaller answer no other field may have another type.
  const places = new Set(mismatches.map(({ place }) => place));
  for (const key of keys) {
    const kept = [...changedPaths(needed, key), ...trial.neededPaths(key)];
    const withAnswer = (answer: unknown): Answers => new Map(answers).set(key, answer);
    answers = withAnswer(
      await shrinkAnswer(answers.get(key), kept, (answer) => isShown(withAnswer(answer), places)),
    );
  }
  const path = mismatch.place.split(".").slice(1);
  const fallback = (await trial.run(trial.build([]))).body;
  const { body, status } = await trial.run(answers);
  const node = nodeAt(trial.type, path);
  const value = mismatch.expected === NO_MEMBER || !node ? MISSING : placeholder(node.place);
  const isFailure = mismatch.place === ANSWER && body === undefined;
  const expected = isFailure ? fallback : withValue(body, path, value);
  return {
    route: trial.route.name,
    operation: keys.join(", "),
    answer: keys.length === 1 ? answers.get(keys[0] ?? "") : Object.fromEntries(answers),
    actual: mismatch.actual,
    expected: mismatch.expected,
    golden: writeGolden(trial, status, `Counterexample of ${field}: ${mismatch.expected}`, expected),
  };
}
