/**
 * The law of types: whatever the upstream's document lets it answer, clients get values of the types that their API's
 * description has.
 */
import { isDeepStrictEqual } from "node:util";
import { objectsPath, type Pack, responseFields, type Route, valueAt } from "../../pack/index.ts";
import type { CatalogLists } from "../../compare/index.ts";
import type { ExampleResult } from "../examples/compare-example.ts";
import { type Operation, operationKey, OtherServiceError, type Surface } from "../../migration/index.ts";
import { pick, type Random } from "../laws/generate-values.ts";
import { ANSWER, createAnswerType, type Mismatch } from "./check-answer.ts";
import {
  createOperationFinder,
  DescribedUpstream,
  keyWithout,
  type DescribedOperation,
} from "./described-upstream.ts";
import { describeCounterexample } from "./counterexample.ts";
import { collectHints } from "./known-values.ts";
import { Patterns } from "./pattern.ts";
import { createPipelines, RouteTrial, type OperationEdit } from "./route-trial.ts";
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
  readonly random: Random;
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
const hasFields = ({ response, kind, upload, wait, source }: Route): boolean =>
  response !== "none" &&
  kind !== "file" &&
  upload === undefined &&
  wait === undefined &&
  !("error" in source);

/** All single changes of some operations. Pages of lists are not changed. */
function editsOf(operations: readonly DescribedOperation[]): OperationEdit[] {
  const all: OperationEdit[] = [];
  for (const operation of operations)
    for (const edit of operation.answer.edits()) {
      if (all.length >= MOST_CASES) return all;
      const { items } = operation;
      if (items === undefined || items.every((key, index) => edit.path[index] === key))
        all.push({ operation, edit });
    }
  return all;
}

/** The cases of a route: each single change, and some of several. */
function* casesOf(
  edits: readonly OperationEdit[],
  { runs, random }: TypeLawOptions,
): Generator<readonly OperationEdit[]> {
  yield [];
  for (const edit of edits) yield [edit];
  for (let run = 0; run < (edits.length > 0 ? runs : 0); run += 1) {
    const several = Array.from({ length: 2 + Math.floor(random() * 4) }, () => pick(edits, random));
    yield several.filter((each) => each !== undefined);
  }
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
    const find = createOperationFinder(surface, this.#pack);
    const known = { examples: examples.map(({ example }) => example), lists: catalogs };
    const hints = collectHints(this.#pack, known, this.#patterns, find);
    const upstream = new DescribedUpstream(this.#pack, surface, find, hints);
    const pipelines = await createPipelines(this.#pack, upstream, catalogs);
    const prefix = this.#pack.dialect.client.base_path;
    const described = new Map<string, Operation>(
      [...client.values()].map((operation) => [keyWithout(prefix, operation.name), operation]),
    );
    for (const route of this.#pack.routes.filter(hasFields)) {
      const operation = described.get(operationKey(route.name));
      if (!operation) {
        this.#untested.add(`${route.name}: the old description does not have it`);
        continue;
      }
      const own = examples.filter((each) => each.route === route).map(({ example }) => example);
      const context = { pack: this.#pack, pipelines, patterns: this.#patterns };
      const request = trialRequest(route, this.#pack, own);
      await this.#try(new RouteTrial(route, createAnswerType(operation.answer), request, context));
    }
    if (this.#cases === 0) throw new OtherServiceError(NOTHING_COMMON);
    pipelines.usual.catalogs.stop();
    pipelines.catalogs.catalogs.stop();
    for (const pattern of this.#patterns.unusable)
      this.#untested.add(`pattern ${pattern}: it can't be used, or takes too long`);
    return {
      cases: this.#cases,
      fields: [...this.#verdicts.values()].map(toVerdict),
      untested: [...this.#untested],
    };
  }

  async #try(trial: RouteTrial): Promise<void> {
    const { route } = trial;
    const { status, body } = await trial.run(trial.build([]));
    const unknown = trial.unknownCalls();
    if (unknown.length > 0)
      this.#untested.add(`${route.name}: the new document has no ${unknown.join(", ")}`);
    // The list of a catalog has all its objects.
    if (status >= 300 && status < 500) {
      if (!("catalog" in route.source))
        this.#untested.add(`${route.name}: the usual answers lead to ${status}`);
      return;
    }
    const rows = valueAt(body, objectsPath(route).split("."));
    if (route.response === "list" && Array.isArray(rows) && rows.length === 0)
      this.#untested.add(`${route.name}: the usual answers lead to an empty list`);
    const operations = trial.called();
    if (operations.length === 0) return;
    const edits = editsOf(operations);
    if (edits.length >= MOST_CASES)
      this.#untested.add(`${route.name}: only the first ${MOST_CASES} cases were tried`);
    const fields = this.#fieldsOf(trial, operations);
    if (edits.length >= MOST_CASES) for (const verdict of fields.values()) verdict.isFinite = false;
    for (const edited of casesOf(edits, this.#options)) {
      const { mismatches } = await trial.run(trial.build(edited));
      this.#cases += 1;
      for (const verdict of fields.values()) verdict.cases += 1;
      for (const mismatch of mismatches) {
        const verdict = fields.get(mismatch.place) ?? this.#verdictOf(trial, mismatch.place);
        if (verdict.counterexample === undefined)
          verdict.counterexample = await this.#minimize(trial, edited, mismatch, verdict.field);
      }
    }
  }

  /** The verdicts of all fields of the answers of a route. */
  #fieldsOf(trial: RouteTrial, operations: readonly DescribedOperation[]): Map<string, MutableVerdict> {
    const { route } = trial;
    const rules = responseFields(route, this.#pack);
    const nodes = operations.flatMap(({ answer }) => answer.nodes());
    const isFiniteAt = (upstream: string): boolean => {
      const found = nodes.filter(({ path }) => `.${path.join(".")}`.endsWith(`.${upstream}`));
      return (
        found.length > 0 &&
        found.every(({ values, isList, isObject }) => values?.isFinite === true && !isList && !isObject)
      );
    };
    const fields = new Map<string, MutableVerdict>();
    for (const place of trial.type.places.keys()) {
      const rule = rules.get(place.slice(ANSWER.length + 1))?.rule;
      const verdict = this.#verdictOf(trial, place);
      const table = this.#pack.dialect.values[rule?.values ?? ""];
      const isPlain =
        rule?.read === undefined && typeof table?.read !== "string" && rule?.catalog === undefined;
      const isFinite =
        rule?.const !== undefined || (isPlain && rule?.upstream !== undefined && isFiniteAt(rule.upstream));
      verdict.isFinite &&= isFinite;
      fields.set(place, verdict);
    }
    return fields;
  }

  /** The verdict of a place, which routes with the same object share. */
  #verdictOf({ route }: RouteTrial, place: string): MutableVerdict {
    const objects = [ANSWER, objectsPath(route)].filter((part) => part !== "").join(".");
    const [object = route.object] = route.responseObjects;
    const field = fieldName(place, { objects, object, route: route.name });
    const verdict = this.#verdicts.get(field) ?? {
      field,
      object,
      routes: new Set<string>(),
      cases: 0,
      isFinite: true,
    };
    this.#verdicts.set(field, verdict);
    verdict.routes.add(route.name);
    return verdict;
  }

  /** Leaves out all changes that the mismatch does not need, then all members. */
  async #minimize(
    trial: RouteTrial,
    edits: readonly OperationEdit[],
    mismatch: Mismatch,
    field: string,
  ): Promise<Counterexample> {
    let needed = edits;
    for (const edit of edits) {
      const fewer = needed.filter((each) => each !== edit);
      const { mismatches } = await trial.run(trial.build(fewer));
      if (mismatches.some((each) => isDeepStrictEqual(each, mismatch))) needed = fewer;
    }
    return describeCounterexample(trial, { edits: needed, mismatch, field });
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
