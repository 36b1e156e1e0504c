/**
 * The law of types: for every answer that the upstream's document allows, clients get values of the types in their
 * API's description.
 */
import * as fc from "fast-check";
import {
  type FieldRule,
  objectsPath,
  type Pack,
  responseFields,
  type Route,
  valueAt,
} from "../../pack/index.ts";
import type { CatalogLists } from "../../compare/index.ts";
import type { ExampleResult } from "../examples/compare-example.ts";
import { operationKey, OtherServiceError, type Surface } from "../../migration/index.ts";
import { ANSWER, answerTree } from "./answer-tree.ts";
import { describeCounterexample } from "./counterexample.ts";
import { DescribedUpstream, type DescribedOperation } from "./described-upstream.ts";
import { createOperationFinder, keyWithout } from "./find-operation.ts";
import { collectHints } from "./known-values.ts";
import { Patterns } from "./pattern.ts";
import { createPipeline, RouteTrial, type OperationEdit, type TrialResult } from "./route-trial.ts";
import { trialRequest } from "./trial-request.ts";
import type { FieldVerdict, TypeReport } from "./type-report.ts";

/** Cases of one route. */
const MOST_CASES = 4_000;

const NOTHING_COMMON =
  "No route of the pack could be tried: compare the paths of both documents, and those of their `servers`, with `base_path` of the pack's upstream and client.";

export interface TypeLawOptions {
  /** The document of the upstream: the possible answers. */
  readonly upstream: Surface;
  /** The description of the client's API: the permitted answers. */
  readonly client: Surface;
  /** The golden cases of the pack, with their routes. Their requests are used, and values of their answers. */
  readonly examples: readonly ExampleResult[];
  readonly catalogs: CatalogLists;
  /** Cases of each route with several unusual values. */
  readonly runs: number;
  readonly seed: number;
}

/** A field while it is tried. */
type OpenVerdict = { -readonly [Key in keyof FieldVerdict]: FieldVerdict[Key] };

/** Routes whose answers have fields. */
const hasFields = ({ response, kind, upload, calls, source }: Route): boolean =>
  response !== "none" &&
  kind !== "file" &&
  upload === undefined &&
  !calls.some(({ place, repeats }) => place === "before" && repeats) &&
  !("error" in source);

/** All single changes of some operations. Pages of lists are not changed. */
const editsOf = (operations: readonly DescribedOperation[]): OperationEdit[] =>
  operations
    .flatMap((operation) => {
      const items = operation.list?.items ?? [];
      const edits = operation.answer.edits().filter(({ path }) => items.every((key, at) => path[at] === key));
      return edits
        .map((edit) => ({ operation, edit }))
        .take(MOST_CASES)
        .toArray();
    })
    .slice(0, MOST_CASES);

/** The cases of a route: the usual answers, each single change of them, and some of several. */
function casesOf(
  edits: readonly OperationEdit[],
  { runs, seed }: TypeLawOptions,
): (readonly OperationEdit[])[] {
  const several = fc.shuffledSubarray([...edits], {
    minLength: Math.min(2, edits.length),
    maxLength: Math.min(5, edits.length),
  });
  return [
    [],
    ...edits.map((edit) => [edit]),
    ...(edits.length > 1 ? fc.sample(several, { numRuns: runs, seed }) : []),
  ];
}

/** Why the usual answers of the upstream can't test a route, or only a part of it. */
function problemsOf(trial: RouteTrial, { status, body }: TrialResult): string[] {
  const { route } = trial;
  const unknown = trial.unknownCalls();
  const rows = valueAt(body, objectsPath(route).split("."));
  const isRefused = status >= 300 && status < 500 && !("catalog" in route.source);
  const isEmpty = route.response === "list" && Array.isArray(rows) && rows.length === 0;
  return [
    ...(unknown.length > 0 ? [`the new document has no ${unknown.join(", ")}`] : []),
    ...(isRefused ? [`the usual answers lead to ${status}`] : []),
    ...(isEmpty ? ["the usual answers lead to an empty list"] : []),
  ];
}

/** Whether all values that the upstream can have for a field are among the changes of its answers. */
function isFinite(
  rule: FieldRule | undefined,
  operations: readonly DescribedOperation[],
  pack: Pack,
): boolean {
  if (rule?.const !== undefined) return true;
  const { read, values = "", catalog, upstream } = rule ?? {};
  const isComputed = read !== undefined || catalog !== undefined;
  if (isComputed || upstream === undefined || typeof pack.dialect.values[values]?.read === "string")
    return false;
  const found = operations.flatMap(({ answer }) =>
    [...answer.tree.values()]
      .filter(({ name }) => name.endsWith(`.${upstream}`))
      .map((node) => answer.isFinite(node)),
  );
  return found.length > 0 && !found.includes(false);
}

/** Checks the types of all fields. */
class TypeLaw {
  readonly #pack: Pack;
  readonly #options: TypeLawOptions;
  readonly #verdicts = new Map<string, OpenVerdict>();
  readonly #untested = new Set<string>();
  readonly #patterns = new Patterns();
  #cases = 0;

  constructor(pack: Pack, options: TypeLawOptions) {
    this.#pack = pack;
    this.#options = options;
  }

  async run(): Promise<TypeReport> {
    const { upstream: surface, examples, catalogs, client } = this.#options;
    const pack = this.#pack;
    const find = createOperationFinder(surface, pack);
    const known = { examples: examples.map(({ example }) => example), lists: catalogs };
    const hints = collectHints(pack, known, this.#patterns, find);
    const pipeline = createPipeline(pack, new DescribedUpstream(pack, surface, find, hints), catalogs);
    await pipeline.readCatalogs("golden cases");
    const prefix = pack.dialect.client.base_path;
    const described = new Map([...client.values()].map((each) => [keyWithout(prefix, each.name), each]));
    for (const route of pack.routes.filter(hasFields)) {
      const operation = described.get(operationKey(route.name));
      if (!operation) {
        this.#untested.add(`${route.name}: the old description does not have it`);
        continue;
      }
      const own = examples.filter((each) => each.route === route).map(({ example }) => example);
      const request = trialRequest(route, pack, own);
      await this.#try(new RouteTrial(route, answerTree(operation.answer), request, pipeline, this.#patterns));
      if ("catalog" in route.source) await pipeline.readCatalogs("golden cases");
    }
    if (this.#cases === 0) throw new OtherServiceError(NOTHING_COMMON);
    pipeline.dryRun.catalogs.stop();
    for (const pattern of this.#patterns.unusable)
      this.#untested.add(`pattern ${pattern}: it can't be run in linear time`);
    return {
      cases: this.#cases,
      fields: [...this.#verdicts.values()],
      untested: [...this.#untested],
    };
  }

  async #try(trial: RouteTrial): Promise<void> {
    const { name } = trial.route;
    const result = await trial.run(trial.build([]));
    for (const problem of problemsOf(trial, result)) this.#untested.add(`${name}: ${problem}`);
    if (result.status >= 300 && result.status < 500) return;
    const operations = trial.called();
    if (operations.length === 0) return;
    const edits = editsOf(operations);
    const isComplete = edits.length < MOST_CASES;
    if (!isComplete) this.#untested.add(`${name}: only the first ${MOST_CASES} cases were tried`);
    const rules = responseFields(trial.route, this.#pack);
    const verdicts = [...trial.tree.keys()].map((place) => {
      const verdict = this.#verdictOf(trial, place);
      const { rule } = rules.get(place.slice(ANSWER.length + 1)) ?? {};
      if (verdict.verdict === "holds" && !(isComplete && isFinite(rule, operations, this.#pack)))
        verdict.verdict = "no counterexample";
      return verdict;
    });
    const cases = casesOf(edits, this.#options);
    this.#cases += cases.length;
    for (const verdict of new Set(verdicts)) verdict.cases += cases.length;
    for (const edited of cases) {
      const { mismatches } = await trial.run(trial.build(edited));
      for (const mismatch of mismatches) {
        const verdict = this.#verdictOf(trial, mismatch.place);
        verdict.verdict = "counterexample";
        verdict.counterexample ??= await describeCounterexample(trial, mismatch, edited, verdict.field);
      }
    }
  }

  /** The verdict of a place: a field of an object, which routes share, or the envelope of a route's objects. */
  #verdictOf({ route }: RouteTrial, place: string): OpenVerdict {
    const objects = [ANSWER, objectsPath(route)].filter((part) => part !== "").join(".");
    const [object = route.object] = route.responseObjects;
    const isObject = place === ANSWER || place === objects;
    const field = isObject
      ? object
      : place.startsWith(`${objects}.`)
        ? `${object}${place.slice(objects.length)}`
        : `${route.name}${place.slice(ANSWER.length).replace(".", " ")}`;
    const verdict = this.#verdicts.get(field) ?? {
      field,
      object,
      routes: [],
      verdict: "holds" as const,
      cases: 0,
    };
    this.#verdicts.set(field, verdict);
    verdict.routes = [...new Set([...verdict.routes, route.name])];
    return verdict;
  }
}

/**
 * Checks the fields of a pack against the types of the client's API, for answers that the upstream's document allows.
 */
export const checkTypes = (pack: Pack, options: TypeLawOptions): Promise<TypeReport> =>
  new TypeLaw(pack, options).run();
