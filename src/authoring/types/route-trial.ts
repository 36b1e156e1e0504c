/** A golden case of a route, for which other responses of the upstream are tried. */
import { isObject } from "../../base/index.ts";
import { type Catalog, findPath, type Pack, type Route } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest, catalogShapes } from "../../compare/index.ts";
import type { ReceivedCall } from "../examples/compare-example.ts";
import { type ExampleDefinition, splitCall, withoutPrefix } from "../examples/example.ts";
import { createExampleRun, type ExampleRun, sendExample } from "../examples/run-examples.ts";
import { ANSWER, type AnswerNode, valuesAt, withValue } from "./answer-tree.ts";
import { findMismatches, isOfType, type Mismatch, type Patterns } from "./check-answer.ts";
import type { DescribedOperation, FindOperation } from "./described-upstream.ts";

/** A response in the golden case that the upstream's document describes. */
export interface TriedAnswer {
  readonly operation: DescribedOperation;
  /** The index of its call. Undefined: it is a list of a catalog. */
  readonly index: number | undefined;
  /** The body, or the rows of a catalog. */
  readonly body: unknown;
  /** The path of the rows of a catalog in the response; empty for other responses. */
  readonly start: readonly string[];
  /** The path of the items of a list, whose other members are about pages; empty for other responses. */
  readonly items: readonly string[];
}

/** A change of a response: another value at a path. Undefined removes the member. */
export interface Change {
  readonly answer: TriedAnswer;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The client's response to changed responses of the upstream. */
interface TrialResult {
  readonly status: number;
  readonly body: unknown;
  readonly mismatches: readonly Mismatch[];
  readonly received: readonly ReceivedCall[];
}

/** The common facts of all trials of a pack. */
export interface TrialFacts {
  readonly pack: Pack;
  readonly findOperation: FindOperation;
  readonly patterns: Patterns;
  /** The objects of the upstream's catalogs. */
  readonly lists: CatalogLists;
}

/** Returns the body of a response with its changes. */
export const changedBody = (answer: TriedAnswer, changes: readonly Change[]): unknown =>
  changes
    .filter((change) => change.answer === answer)
    .reduce((body, { path, value }) => withValue(body, path, value), answer.body);

/** Returns a body with values of the described types in place of others, except null. */
function conform(body: unknown, operation: DescribedOperation | undefined): unknown {
  let conforming = body;
  for (const [{ path, place }, values] of operation?.values ?? []) {
    const usual = values.find((value) => value !== undefined);
    const fits = valuesAt(body, path).every((value) => value === null || isOfType(value, place.types));
    if (!fits && path.length > 0) conforming = withValue(conforming, path, usual);
  }
  return conforming;
}

/** Parses a JSON body; returns any other body as text. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the members that a list's condition names. The upstream omits items with other values. */
const membersIn = (where: unknown): string[] =>
  Object.entries(isObject(where) ? where : {}).flatMap(([key, value]) => [
    key,
    ...(Array.isArray(value) ? value.flatMap(membersIn) : []),
  ]);

type Body = ExampleDefinition["response"]["body"];

/** A route with a golden case. */
export class RouteTrial {
  readonly route: Route;
  /** The description of the response in the client's document. */
  readonly described: ReadonlyMap<string, AnswerNode>;
  readonly facts: TrialFacts;
  /** The described responses. */
  readonly answers: readonly TriedAnswer[];
  /** Whether a change led to a call without a response in the golden case, so that its result is unknown. */
  isIncomplete = false;
  readonly #definition: ExampleDefinition;
  #run: ExampleRun | undefined;

  constructor(
    route: Route,
    described: RouteTrial["described"],
    definition: ExampleDefinition,
    facts: TrialFacts,
  ) {
    this.route = route;
    this.described = described;
    this.facts = facts;
    this.#definition = definition;
    this.answers = [...this.#answersOfCalls(), ...this.#answersOfCatalog()];
  }

  /** The catalog that contains its objects; undefined if they are read by a call. */
  get #catalog(): Catalog | undefined {
    return "catalog" in this.route.source ? this.route.source.catalog : undefined;
  }

  #answersOfCalls(): TriedAnswer[] {
    const { pack, findOperation } = this.facts;
    return this.#definition.upstream.flatMap(({ request, response }, index) => {
      const { method, path } = splitCall(request, pack.dialect.upstream.base_path);
      const operation = findOperation(method, path);
      const body = conform(response.body, operation);
      return operation ? [{ operation, index, body, start: [], items: this.#itemsIn(method, path) }] : [];
    });
  }

  /** Returns the path of the items in the response to the main call of a list; empty for other calls. */
  #itemsIn(method: string, path: string): readonly string[] {
    const { response, source, lists, resource } = this.route;
    const isList = response === "list" && "call" in source && source.call.method === method;
    if (!isList || !source.call.matches(path.split("?", 1)[0] ?? "")) return [];
    return findPath(lists.envelope.upstream.list, "items", { list: resource.upstreamList ?? "" }) ?? [];
  }

  #answersOfCatalog(): TriedAnswer[] {
    const { pack, findOperation, lists } = this.facts;
    const shapes = catalogShapes(pack);
    return (this.#catalog?.calls ?? []).flatMap(({ path }) => {
      const request = catalogRequest(path);
      const operation = findOperation("GET", pack.dialect.upstream.base_path + path);
      const { shape, name = "" } = shapes.get(request) ?? {};
      const start = findPath(shape, "items", { list: name }) ?? [];
      const body = this.#definition.catalogs?.[request] ?? lists[request];
      return operation && body ? [{ operation, index: undefined, body, start, items: start }] : [];
    });
  }

  /** All changes of one value. */
  get changes(): Change[] {
    const fixed = membersIn(this.route.where);
    return this.answers.flatMap((answer) =>
      [...answer.operation.values].flatMap(([{ path, name }, values]) => {
        const isTried =
          path.length > answer.items.length &&
          answer.items.every((key, index) => path[index] === key) &&
          !fixed.some((each) => name.endsWith(`.${each}`));
        return values.flatMap((value) =>
          isTried ? [{ answer, path: path.slice(answer.start.length), value }] : [],
        );
      }),
    );
  }

  /** Returns the golden case with changes. */
  #change(changes: readonly Change[]): ExampleDefinition {
    const bodyOf = new Map(this.answers.map((answer) => [answer.index, changedBody(answer, changes)]));
    const catalogs = this.answers
      .filter(({ index }) => index === undefined)
      .map((answer) => [answer.operation.key, changedBody(answer, changes)]);
    return {
      ...this.#definition,
      ...(catalogs.length > 0 && { catalogs: Object.fromEntries(catalogs) }),
      upstream: this.#definition.upstream.map((call, index) => ({
        ...call,
        response: { ...call.response, ...(bodyOf.has(index) && { body: bodyOf.get(index) as Body }) },
      })),
    };
  }

  /** Returns the golden case with changes, and with the calls that it leads to. */
  writeGolden(changes: readonly Change[], received: readonly ReceivedCall[]): ExampleDefinition {
    const { losses: _losses, ...definition } = this.#change(changes);
    const prefix = this.facts.pack.dialect.upstream.base_path;
    const upstream = received.flatMap(({ index, request, filter, body }) => {
      const [method = "", path = ""] = request.split(" ");
      const written = `${method} ${withoutPrefix(path, prefix)}`;
      const call = definition.upstream[index];
      return call ? [{ ...call, request: written, filter: filter as Body, body: body as Body }] : [];
    });
    return { ...definition, upstream };
  }

  /** Runs the golden case with changes, and checks the response. A failure of the pack is a mismatch of the whole answer. */
  async run(changes: readonly Change[]): Promise<TrialResult> {
    const { pack, patterns, lists } = this.facts;
    const definition = this.#change(changes);
    if (this.#catalog) this.end();
    this.#run ??= await createExampleRun(pack, { ...lists, ...definition.catalogs });
    const { v4, dryRun } = this.#run;
    const failed = this.#catalog && [...dryRun.catalogs.leftOut().values()][0]?.message;
    const { response } = await sendExample(pack, this.#run, definition);
    const { received } = v4;
    const { status } = response;
    const result = { status, body: undefined, received, mismatches: [] };
    if (received.some(({ index }) => index < 0)) {
      this.isIncomplete = true;
      return result;
    }
    if (failed !== undefined || status >= 500) {
      const actual = failed ?? status;
      return {
        ...result,
        mismatches: [{ place: ANSWER, actual, expected: "an answer: an expression fails" }],
      };
    }
    if (status >= 300) return result;
    const body = jsonOrText(response.body);
    return { ...result, body, mismatches: findMismatches(body, this.described, patterns) };
  }

  /** Frees the pipeline. */
  end(): void {
    this.#run?.dryRun.catalogs.stop();
    this.#run = undefined;
  }
}
