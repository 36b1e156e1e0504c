/**
 * The law of types: for every response that the upstream's document allows, clients get values of the types in their
 * API's description.
 */
import * as fc from "fast-check";
import { objectsPath, responseFields, type Route, valueAt } from "../../pack/index.ts";
import type { ExampleResult } from "../examples/compare-example.ts";
import type { ExampleDefinition } from "../examples/example.ts";
import { type Operation, operationKey, OtherServiceError, type Surface } from "../../migration/index.ts";
import { ANSWER, answerSchema, isLinear, type Mismatch, placeSchema } from "./answer-schema.ts";
import { describeCounterexample, pathsIn } from "./counterexample.ts";
import { keyWithout } from "./possible-values.ts";
import { type Change, MOST_TRIED, RouteTrial, type TrialFacts } from "./route-trial.ts";
import type { FieldVerdict, TypeReport } from "./type-report.ts";

const NOTHING_COMMON =
  "No route of the pack could be tried: compare the paths of both documents, and those of their `servers`, with `base_path` of the pack's upstream and client.";

/** The facts about a pack that the law needs. */
export interface TypeLawFacts extends TrialFacts {
  readonly seed: number;
  /** The number of cases with several changes of a golden case. */
  readonly numRuns: number;
  /** The description of the client's API: the permitted responses. */
  readonly client: Surface;
  /** The golden cases of the pack, with their routes. Their requests are used, and values from their responses. */
  readonly examples: readonly ExampleResult[];
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

/** Returns the successful golden cases, that with the most members in the responses first. */
function successesOf(examples: readonly ExampleDefinition[]): ExampleDefinition[] {
  const members = ({ response, upstream }: ExampleDefinition): number =>
    1000 * pathsIn(response.body).length + pathsIn(upstream).length;
  return examples
    .filter(({ file }) => file === undefined)
    .filter((each) => [each, ...each.upstream].every(({ response }) => response.status < 300))
    .toSorted((one, other) => members(other) - members(one));
}

/**
 * Compares the fields of a pack with the types of the client's API, for the responses that the upstream's document
 * allows.
 */
export class TypeLaw {
  readonly #facts: TypeLawFacts;
  readonly #verdicts = new Map<string, OpenVerdict>();
  readonly #untested = new Set<string>();
  #cases = 0;

  constructor(facts: TypeLawFacts) {
    this.#facts = facts;
  }

  /** @throws {OtherServiceError} if no route could be tried */
  async run(): Promise<TypeReport> {
    const { client, examples, pack } = this.#facts;
    const prefix = pack.dialect.client.base_path;
    const described = new Map([...client.values()].map((each) => [keyWithout(prefix, each.name), each]));
    let lacksCases = false;
    for (const route of pack.routes.filter(hasFields)) {
      const operation = described.get(operationKey(route.name));
      const own = examples.filter((each) => each.route === route).map(({ example }) => example.definition);
      const successes = successesOf(own);
      if (!operation) this.#untested.add(`${route.name}: the old description does not have it`);
      else if (successes.length === 0) {
        lacksCases = true;
        this.#untested.add(`${route.name}: there is no golden case of a successful request`);
      } else await this.#tryRoute(route, operation, successes);
    }
    // Without golden cases, the documents may well be those of this pack.
    if (this.#cases === 0 && !lacksCases) throw new OtherServiceError(NOTHING_COMMON);
    return { cases: this.#cases, fields: [...this.#verdicts.values()], untested: [...this.#untested] };
  }

  /** Tries each change of the first golden case alone, and some changes together. Others are tried without changes. */
  async #tryRoute(route: Route, described: Operation, golden: readonly ExampleDefinition[]): Promise<void> {
    const schema = answerSchema(described);
    const [trial, ...others] = golden.map((each) => new RouteTrial(route, schema, each, this.#facts));
    if (!trial || (await this.#isRefused(trial, described)) || trial.answers.length === 0) return;
    const changes = trial.answers.flatMap((answer) => answer.changes);
    const test = (each: RouteTrial, tried: readonly Change[]) => this.#test(each, tried, described);
    for (const tried of [[], ...changes.map((change) => [change])]) await test(trial, tried);
    for (const other of others) await test(other, []);
    const { seed, numRuns } = this.#facts;
    const isKnown = ({ place }: Mismatch) => this.#verdictOf(route, place).counterexample !== undefined;
    // Changes that only together result in a counterexample of a further field, as few as possible.
    const several = fc.array(fc.constantFrom([], ...changes), { minLength: 2, maxLength: 6, size: "max" });
    const property = fc.asyncProperty(several, async (tried) =>
      (await trial.run(tried.flat())).mismatches.every(isKnown),
    );
    for (let found: readonly Change[] | undefined = []; found;) {
      await test(trial, found);
      const { counterexample } = await fc.check(property, { seed, numRuns });
      found = counterexample?.[0].flat();
    }
    const cases = 1 + changes.length + numRuns;
    this.#cases += cases;
    const places = Map.groupBy(described.answer.keys(), (place) => this.#verdictOf(route, place));
    for (const [verdict, [place = ""]] of places) {
      verdict.cases += cases;
      if (verdict.verdict === "holds" && !this.#isExhausted(trial, place))
        verdict.verdict = "no counterexample";
    }
  }

  /** Tries some changes. Each field that has no counterexample yet gets one. */
  async #test(trial: RouteTrial, changes: readonly Change[], { answer }: Operation): Promise<void> {
    const { route } = trial;
    const { mismatches, received } = await trial.run(changes);
    const calls = received.map(({ request }) => request.split("?", 1)[0] ?? "");
    const lacking = calls.filter((call) => !this.#facts.findOperation(call));
    if (lacking.length > 0)
      this.#untested.add(`${route.name}: the new document has no ${lacking.join(", ")}`);
    for (const mismatch of mismatches) {
      const verdict = this.#verdictOf(route, mismatch.place);
      if (verdict.counterexample) continue;
      const place = answer.get(mismatch.place);
      const { field } = verdict;
      const counterexample = await describeCounterexample(trial, mismatch, changes, {
        field,
        schema: place && placeSchema(place),
      });
      Object.assign(verdict, { verdict: "counterexample", counterexample });
    }
  }

  /** Whether a route can't be tested with its golden case. Reports this, and what can't be tested. */
  async #isRefused(trial: RouteTrial, described: Operation): Promise<boolean> {
    const { route, answers } = trial;
    const { status, body } = await trial.run([]);
    const add = (problem: string) => this.#untested.add(`${route.name}: ${problem}`);
    const rows = valueAt(body, objectsPath(route).split("."));
    if (status >= 300 && status < 500) add(`the golden case leads to ${status}`);
    if (answers.some(({ operation }) => operation.places.length > MOST_TRIED))
      add(`only the first ${MOST_TRIED} members of an answer were tried`);
    if (route.response === "list" && Array.isArray(rows) && rows.length === 0)
      add("the golden case has an empty list");
    const operations = [described, ...answers.map(({ operation }) => operation.described)];
    for (const { limits } of operations.flatMap(({ answer }) => [...answer.values()]))
      if (typeof limits["pattern"] === "string" && !isLinear(limits["pattern"]))
        this.#untested.add(`pattern ${limits["pattern"]}: it can't be run in linear time`);
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
    const sources = answers.flatMap(({ operation, tried }) =>
      operation.places.flatMap((source) =>
        `.${source.path.join(".")}`.endsWith(`.${upstream}`) ? source.isFinite && tried.has(source) : [],
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
