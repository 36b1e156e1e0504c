/**
 * The law of types: for every response that the upstream's document allows, clients get values of the types in their
 * API's description.
 */
import { objectsPath, type Pack, responseFields, type Route, valueAt } from "../../pack/index.ts";
import type { CatalogLists } from "../../compare/index.ts";
import type { ExampleResult, ReceivedCall } from "../examples/compare-example.ts";
import type { ExampleDefinition } from "../examples/example.ts";
import { operationKey, OtherServiceError, type Surface } from "../../migration/index.ts";
import { ANSWER, answerTree } from "./answer-tree.ts";
import { Patterns } from "./check-answer.ts";
import { describeCounterexample, findTogether, pathsIn } from "./counterexample.ts";
import { describeUpstream, keyWithout, MOST_TRIED } from "./described-upstream.ts";
import { isFinite } from "./possible-values.ts";
import { type Change, RouteTrial, type TrialFacts } from "./route-trial.ts";
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

/** Counts the members of a response. */
const countMembers = ({ response }: { readonly response: { readonly body?: unknown } }): number =>
  pathsIn(response.body).length;

/** Returns the successful golden cases of a route, that with the most members in the responses first. */
const successesOf = (examples: readonly ExampleDefinition[]): ExampleDefinition[] =>
  examples
    .filter(({ file }) => file === undefined)
    .filter((each) => [each, ...each.upstream].every(({ response }) => response.status < 300))
    .map((each) => {
      const upstream = each.upstream.reduce((sum, call) => sum + countMembers(call), 0);
      return { each, members: countMembers(each), upstream };
    })
    .toSorted((one, other) => other.members - one.members || other.upstream - one.upstream)
    .map(({ each }) => each);

/** Checks the types of all fields. */
class TypeLaw {
  readonly #options: TypeLawOptions;
  readonly #facts: TrialFacts;
  readonly #verdicts = new Map<string, OpenVerdict>();
  readonly #untested = new Set<string>();
  #cases = 0;

  constructor(pack: Pack, options: TypeLawOptions) {
    const { upstream, catalogs: lists } = options;
    const patterns = new Patterns();
    this.#options = options;
    this.#facts = { pack, patterns, lists, findOperation: describeUpstream(pack, upstream, lists, patterns) };
  }

  async run(): Promise<TypeReport> {
    const { client, examples } = this.#options;
    const { pack, patterns } = this.#facts;
    const prefix = pack.dialect.client.base_path;
    const described = new Map([...client.values()].map((each) => [keyWithout(prefix, each.name), each]));
    for (const route of pack.routes.filter(hasFields)) {
      const operation = described.get(operationKey(route.name));
      const own = examples.filter((each) => each.route === route).map(({ example }) => example.definition);
      const [richest, ...others] = operation
        ? successesOf(own).map((each) => new RouteTrial(route, answerTree(operation), each, this.#facts))
        : [];
      if (!operation) this.#untested.add(`${route.name}: the old description does not have it`);
      else if (!richest) this.#untested.add(`${route.name}: there is no golden case of a successful request`);
      else await this.#try(richest, others);
    }
    if (this.#cases === 0) throw new OtherServiceError(NOTHING_COMMON);
    for (const pattern of patterns.unusable)
      this.#untested.add(`pattern ${pattern}: it can't be run in linear time`);
    return { cases: this.#cases, fields: [...this.#verdicts.values()], untested: [...this.#untested] };
  }

  /** Tries a golden case, each change of it alone, and some changes together. Others are tried without changes. */
  async #try(trial: RouteTrial, others: readonly RouteTrial[]): Promise<void> {
    const { changes, route } = trial;
    if ((await this.#isRefused(trial)) || trial.answers.length === 0) return trial.end();
    for (const tried of [[], ...changes.map((change) => [change])]) await this.#test(trial, tried);
    const isNew = async (tried: readonly Change[]): Promise<boolean> =>
      (await trial.run(tried)).mismatches.some(({ place }) => !this.#verdictOf(route, place).counterexample);
    for (const other of others) {
      if (other.answers.length > 0) await this.#test(other, []);
      other.end();
    }
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
    trial.end();
  }

  /** Tries some changes. Each field that has no counterexample yet gets one. */
  async #test(trial: RouteTrial, changes: readonly Change[]): Promise<void> {
    const { mismatches, received } = await trial.run(changes);
    this.#reportLacking(trial, received);
    for (const mismatch of mismatches) {
      const verdict = this.#verdictOf(trial.route, mismatch.place);
      if (verdict.counterexample) continue;
      verdict.verdict = "counterexample";
      verdict.counterexample = await describeCounterexample(trial, mismatch, changes, verdict.field);
    }
  }

  /** Reports the calls that the document of the upstream does not have. */
  #reportLacking({ route }: RouteTrial, received: readonly ReceivedCall[]): void {
    const lacking = received
      .map(({ request }) => (request.split("?")[0] ?? "").split(" "))
      .filter(([method = "", path = ""]) => this.#facts.findOperation(method, path) === undefined);
    const names = lacking.map((call) => call.join(" "));
    if (names.length > 0) this.#untested.add(`${route.name}: the new document has no ${names.join(", ")}`);
  }

  /** Whether a route can't be tested with its golden case. Reports this, and the fields that can't be tested. */
  async #isRefused(trial: RouteTrial): Promise<boolean> {
    const { route, answers } = trial;
    const { status, body } = await trial.run([]);
    const add = (problem: string) => this.#untested.add(`${route.name}: ${problem}`);
    const rows = valueAt(body, objectsPath(route).split("."));
    if (status >= 300 && status < 500) add(`the golden case leads to ${status}`);
    if (answers.some(({ operation }) => operation.nodes.length > MOST_TRIED))
      add(`only the first ${MOST_TRIED} members of an answer were tried`);
    if (route.response === "list" && Array.isArray(rows) && rows.length === 0)
      add("the golden case has an empty list");
    return status >= 300 && status < 500;
  }

  /** Whether all possible upstream values of a field were tried. */
  #isExhausted({ route, answers, isIncomplete }: RouteTrial, place: string): boolean {
    const { pack } = this.#facts;
    const { rule } = responseFields(route, pack).get(place.slice(ANSWER.length + 1)) ?? {};
    const { read, values = "", catalog, upstream } = rule ?? {};
    if (rule?.const !== undefined) return true;
    const isComputed = read !== undefined || catalog !== undefined;
    if (isComputed || upstream === undefined || typeof pack.dialect.values[values]?.read === "string")
      return false;
    const sources = answers.flatMap(({ operation: { nodes, values } }) =>
      nodes.flatMap((node) =>
        node.name.endsWith(`.${upstream}`) ? values.has(node) && isFinite(node.place) : [],
      ),
    );
    return !isIncomplete && sources.length > 0 && !sources.includes(false);
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
  new TypeLaw(pack, options).run();
