/**
 * The law of types: whatever the upstream's document lets it answer, clients get values of the types that their API's
 * description has.
 */
import * as fc from "fast-check";
import { objectsPath, type Pack, responseFields, type Route, valueAt } from "../../pack/index.ts";
import type { CatalogLists } from "../../compare/index.ts";
import type { ExampleResult } from "../examples/compare-example.ts";
import { operationKey, OtherServiceError, type Surface } from "../../migration/index.ts";
import { ANSWER, answerTree, type AnswerNode } from "./answer-tree.ts";
import { describeCounterexample } from "./counterexample.ts";
import { DescribedUpstream, type DescribedOperation } from "./described-upstream.ts";
import { createOperationFinder, keyWithout } from "./find-operation.ts";
import { collectHints } from "./known-values.ts";
import { Patterns } from "./pattern.ts";
import { createPipeline, RouteTrial, type OperationEdit, type TrialResult } from "./route-trial.ts";
import { trialRequest } from "./trial-request.ts";
import type { Counterexample, FieldVerdict, TypeReport } from "./type-report.ts";

/** Cases of one route. */
const MOST_CASES = 4_000;

const NOTHING_COMMON =
  "No route of the pack could be tried: compare the paths of both documents, and those of their `servers`, with `base_path` of the pack's upstream and client.";

export interface TypeLawOptions {
  /** The document of the upstream: what it may answer. */
  readonly upstream: Surface;
  /** The description of the client's API: what clients may get. */
  readonly client: Surface;
  /** The golden cases of the pack, with their routes. Their requests are used, and values of their answers. */
  readonly examples: readonly ExampleResult[];
  readonly catalogs: CatalogLists;
  /** Cases of each route with several unusual values. */
  readonly runs: number;
  readonly seed: number;
}

/** A field while it is tried. */
interface MutableVerdict {
  readonly field: string;
  readonly object: string;
  readonly routes: Set<string>;
  cases: number;
  isFinite: boolean;
  counterexample?: Counterexample;
}

/** Routes whose answers have fields. */
const hasFields = ({ response, kind, upload, calls, source }: Route): boolean =>
  response !== "none" &&
  kind !== "file" &&
  upload === undefined &&
  !calls.some(({ place, repeats }) => place === "before" && repeats) &&
  !("error" in source);

/** All single changes of some operations. Pages of lists are not changed. */
function editsOf(operations: readonly DescribedOperation[]): OperationEdit[] {
  const all: OperationEdit[] = [];
  for (const operation of operations)
    for (const edit of operation.answer.edits()) {
      if (all.length >= MOST_CASES) return all;
      const items = operation.list?.items ?? [];
      if (items.every((key, index) => edit.path[index] === key)) all.push({ operation, edit });
    }
  return all;
}

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

/** The name of a field: in an object, or in what is around the objects of a route. */
function fieldName(
  place: string,
  { objects, object, route }: { readonly objects: string; readonly object: string; readonly route: string },
): string {
  if (place === ANSWER || place === objects) return object;
  if (place.startsWith(`${objects}.`)) return `${object}.${place.slice(objects.length + 1)}`;
  return `${route} ${place.slice(ANSWER.length + 1)}`;
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

/** The names of all places of an answer. */
const namesIn = ({ name, members }: AnswerNode): string[] => [
  name,
  ...[...members.values()].flatMap(namesIn),
];

/** Checks the types of all fields. */
class TypeLaw {
  readonly #pack: Pack;
  readonly #options: TypeLawOptions;
  readonly #verdicts = new Map<string, MutableVerdict>();
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
      fields: [...this.#verdicts.values()].map(toVerdict),
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
    const fields = this.#fieldsOf(trial, operations, edits.length < MOST_CASES);
    if (edits.length >= MOST_CASES)
      this.#untested.add(`${name}: only the first ${MOST_CASES} cases were tried`);
    for (const edited of casesOf(edits, this.#options)) {
      const { mismatches } = await trial.run(trial.build(edited));
      this.#cases += 1;
      for (const verdict of fields.values()) verdict.cases += 1;
      for (const mismatch of mismatches) {
        const verdict = fields.get(mismatch.place) ?? this.#verdictOf(trial, mismatch.place);
        verdict.counterexample ??= await describeCounterexample(trial, mismatch, edited, verdict.field);
      }
    }
  }

  /** The verdicts of all fields of the answers of a route. @param isComplete Whether all single changes are tried */
  #fieldsOf(
    trial: RouteTrial,
    operations: readonly DescribedOperation[],
    isComplete: boolean,
  ): Map<string, MutableVerdict> {
    const rules = responseFields(trial.route, this.#pack);
    const nodes = operations.flatMap(({ answer }) => answer.nodes);
    const isFiniteAt = (upstream: string): boolean => {
      const found = nodes.filter(({ path }) => `.${path.join(".")}`.endsWith(`.${upstream}`));
      return (
        found.length > 0 &&
        found.every(({ values, isList, isObject }) => values?.isFinite === true && !isList && !isObject)
      );
    };
    const fields = new Map<string, MutableVerdict>();
    for (const place of namesIn(trial.type)) {
      const { rule } = rules.get(place.slice(ANSWER.length + 1)) ?? {};
      const table = this.#pack.dialect.values[rule?.values ?? ""];
      const isPlain =
        rule?.read === undefined && typeof table?.read !== "string" && rule?.catalog === undefined;
      const isFinite =
        rule?.const !== undefined || (isPlain && rule?.upstream !== undefined && isFiniteAt(rule.upstream));
      const verdict = this.#verdictOf(trial, place);
      verdict.isFinite &&= isComplete && isFinite;
      fields.set(place, verdict);
    }
    return fields;
  }

  /** The verdict of a place, which routes with the same object share. */
  #verdictOf({ route }: RouteTrial, place: string): MutableVerdict {
    const objects = [ANSWER, objectsPath(route)].filter((part) => part !== "").join(".");
    const [object = route.object] = route.responseObjects;
    const field = fieldName(place, { objects, object, route: route.name });
    const routes = new Set<string>();
    const verdict = this.#verdicts.get(field) ?? { field, object, routes, cases: 0, isFinite: true };
    this.#verdicts.set(field, verdict);
    verdict.routes.add(route.name);
    return verdict;
  }
}

const toVerdict = ({ routes, isFinite, counterexample, ...verdict }: MutableVerdict): FieldVerdict => ({
  ...verdict,
  routes: [...routes],
  verdict: counterexample ? "counterexample" : isFinite ? "holds" : "no counterexample",
  ...(counterexample && { counterexample }),
});

/** Holds the fields of a pack against the types of the client's API, for what the upstream's document lets it answer. */
export const checkTypes = (pack: Pack, options: TypeLawOptions): Promise<TypeReport> =>
  new TypeLaw(pack, options).run();
