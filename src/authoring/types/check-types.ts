/**
 * The law of types: for every response that the upstream's document allows, clients get values of the types in their
 * API's description.
 */
import { objectsPath, type Pack, responseFields, type Route, valueAt } from "../../pack/index.ts";
import { type CatalogLists, createCatalogUpstream, createDryRun } from "../../compare/index.ts";
import type { HttpRequest } from "../../gateway/index.ts";
import type { ExampleResult } from "../examples/compare-example.ts";
import { operationKey, OtherServiceError, type Surface } from "../../migration/index.ts";
import { ANSWER, answerTree } from "./answer-tree.ts";
import { Patterns } from "./check-answer.ts";
import { describeCounterexample, findTogether } from "./counterexample.ts";
import { type Change, DescribedUpstream, keyWithout, MOST_TRIED } from "./described-upstream.ts";
import { isFinite } from "./possible-values.ts";
import { type Pipeline, RouteTrial } from "./route-trial.ts";
import type { FieldVerdict, TypeReport } from "./type-report.ts";

const NOTHING_COMMON =
  "No route of the pack could be tried: compare the paths of both documents, and those of their `servers`, with `base_path` of the pack's upstream and client.";

export interface TypeLawOptions {
  /** The document of the upstream: the possible responses. */
  readonly upstream: Surface;
  /** The description of the client's API: the permitted responses. */
  readonly client: Surface;
  /** The golden cases of the pack, with their routes. Their requests are used, and values from their responses. */
  readonly examples: readonly ExampleResult[];
  readonly catalogs: CatalogLists;
  readonly runs: number;
  readonly seed: number;
}

/** The verdict of a field while it is tested. */
type OpenVerdict = { -readonly [Key in keyof FieldVerdict]: FieldVerdict[Key] };

/** Whether the responses of a route contain fields. */
const hasFields = ({ response, kind, upload, calls, source }: Route): boolean =>
  response !== "none" &&
  kind !== "file" &&
  upload === undefined &&
  !calls.some(({ place, repeats }) => place === "before" && repeats) &&
  !("error" in source);

/** Creates the pipeline of a pack. Its catalogs come from golden cases, unless responses are tried for them. */
async function createPipeline(pack: Pack, options: TypeLawOptions): Promise<Pipeline> {
  const { upstream: surface, examples, catalogs } = options;
  const patterns = new Patterns();
  const known = { examples: examples.map(({ example }) => example), lists: catalogs };
  const upstream = new DescribedUpstream(pack, surface, known, patterns);
  const lists = createCatalogUpstream(pack, catalogs);
  const catalogUpstream = {
    ...lists,
    async call(request: HttpRequest) {
      const response = await lists.call(request);
      return response.status === 200 && !upstream.isChanged(request) ? response : upstream.call(request);
    },
  };
  const dryRun = createDryRun(pack, upstream, { catalogUpstream });
  await dryRun.catalogs.refresh();
  return { pack, upstream, dryRun, patterns };
}

/** Checks the types of all fields. */
class TypeLaw {
  readonly #pipeline: Pipeline;
  readonly #options: TypeLawOptions;
  readonly #verdicts = new Map<string, OpenVerdict>();
  readonly #untested = new Set<string>();
  #cases = 0;

  constructor(pipeline: Pipeline, options: TypeLawOptions) {
    this.#pipeline = pipeline;
    this.#options = options;
  }

  async run(): Promise<TypeReport> {
    const { client, examples } = this.#options;
    const { pack, dryRun, patterns } = this.#pipeline;
    const prefix = pack.dialect.client.base_path;
    const described = new Map([...client.values()].map((each) => [keyWithout(prefix, each.name), each]));
    for (const route of pack.routes.filter(hasFields)) {
      const operation = described.get(operationKey(route.name));
      const own = examples.filter((each) => each.route === route).map(({ example }) => example);
      if (!operation) this.#untested.add(`${route.name}: the old description does not have it`);
      else await this.#try(new RouteTrial(route, answerTree(operation), own, this.#pipeline));
    }
    if (this.#cases === 0) throw new OtherServiceError(NOTHING_COMMON);
    dryRun.catalogs.stop();
    for (const pattern of patterns.unusable)
      this.#untested.add(`pattern ${pattern}: it can't be run in linear time`);
    return { cases: this.#cases, fields: [...this.#verdicts.values()], untested: [...this.#untested] };
  }

  /** Tries the usual responses, each change of them alone, and some changes together. */
  async #try(trial: RouteTrial): Promise<void> {
    if ((await this.#isRefused(trial)) || trial.operations.length === 0) return;
    const { changes, route } = trial;
    for (const tried of [[], ...changes.map((change) => [change])]) await this.#test(trial, tried);
    const isNew = async (tried: readonly Change[]): Promise<boolean> =>
      (await trial.run(tried)).mismatches.some(({ place }) => !this.#verdictOf(route, place).counterexample);
    for (let found: readonly Change[] | undefined = []; found;) {
      await this.#test(trial, found);
      found = await findTogether(changes, isNew, this.#options);
    }
    const verdicts = [...trial.described.keys()].map((place) => {
      const verdict = this.#verdictOf(route, place);
      if (verdict.verdict === "holds" && !this.#isExhausted(trial, place))
        verdict.verdict = "no counterexample";
      return verdict;
    });
    const cases = 1 + changes.length + this.#options.runs;
    this.#cases += cases;
    for (const verdict of new Set(verdicts)) verdict.cases += cases;
    if (trial.catalog) await trial.run([]);
  }

  /** Tries some changes. Each field that has no counterexample yet gets one. */
  async #test(trial: RouteTrial, changes: readonly Change[]): Promise<void> {
    const { mismatches } = await trial.run(changes);
    for (const mismatch of mismatches) {
      const verdict = this.#verdictOf(trial.route, mismatch.place);
      if (verdict.counterexample) continue;
      verdict.verdict = "counterexample";
      verdict.counterexample = await describeCounterexample(trial, mismatch, changes, verdict.field);
    }
  }

  /**
   * Whether a route can't be tested with the usual responses of the upstream. Reports this, and the fields that can't
   * be tested.
   */
  async #isRefused(trial: RouteTrial): Promise<boolean> {
    const { route, pipeline, operations, catalog } = trial;
    const { status, body } = await trial.run([]);
    const add = (problem: string) => this.#untested.add(`${route.name}: ${problem}`);
    const lacking = pipeline.upstream.received.filter(({ operation }) => operation === undefined);
    const names = lacking.map(({ request: { method, path } }) => `${method} ${path.split("?")[0]}`);
    const rows = valueAt(body, objectsPath(route).split("."));
    const isRefused = status >= 300 && status < 500 && !catalog;
    if (names.length > 0) add(`the new document has no ${names.join(", ")}`);
    if (isRefused) add(`the usual answers lead to ${status}`);
    if (operations.some(({ nodes }) => nodes.length > MOST_TRIED))
      add(`only the first ${MOST_TRIED} members of an answer were tried`);
    if (route.response === "list" && Array.isArray(rows) && rows.length === 0)
      add("the usual answers lead to an empty list");
    return isRefused;
  }

  /** Whether all possible upstream values of a field were tried. */
  #isExhausted({ route, operations }: RouteTrial, place: string): boolean {
    const { pack } = this.#pipeline;
    const { rule } = responseFields(route, pack).get(place.slice(ANSWER.length + 1)) ?? {};
    const { read, values = "", catalog, upstream } = rule ?? {};
    if (rule?.const !== undefined) return true;
    const isComputed = read !== undefined || catalog !== undefined;
    if (isComputed || upstream === undefined || typeof pack.dialect.values[values]?.read === "string")
      return false;
    const sources = operations.flatMap(({ nodes }) =>
      nodes.flatMap(({ name, place: source }, index) =>
        name.endsWith(`.${upstream}`) ? index < MOST_TRIED && isFinite(source) : [],
      ),
    );
    return sources.length > 0 && !sources.includes(false);
  }

  /** The verdict of a place: of a field of an object, which routes share, or of a value around the objects of a route. */
  #verdictOf(route: Route, place: string): OpenVerdict {
    const objects = [ANSWER, objectsPath(route)].filter((part) => part !== "").join(".");
    const [object = route.object] = route.responseObjects;
    let field = `${route.name}${place.slice(ANSWER.length).replace(".", " ")}`;
    if (place === ANSWER || place === objects) field = object;
    else if (place.startsWith(`${objects}.`)) field = `${object}${place.slice(objects.length)}`;
    const verdict = this.#verdicts.get(field) ?? { field, object, routes: [], verdict: "holds", cases: 0 };
    this.#verdicts.set(field, verdict);
    verdict.routes = [...new Set([...verdict.routes, route.name])];
    return verdict;
  }
}

/** Compares the fields of a pack with the types of the client's API, for the responses that the upstream's document allows. */
export const checkTypes = async (pack: Pack, options: TypeLawOptions): Promise<TypeReport> =>
  new TypeLaw(await createPipeline(pack, options), options).run();
