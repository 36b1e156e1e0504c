/** A golden case of a route, for which other responses of the upstream are tried. */
import { tryParse } from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import { findPath, type Pack, type Route } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest, catalogShapes } from "../../compare/index.ts";
import type { ReceivedCall } from "../examples/compare-example.ts";
import { type ExampleDefinition, splitCall, withoutPrefix } from "../examples/example.ts";
import { createExampleRun, type ExampleRun, sendExample } from "../examples/run-examples.ts";
import { ANSWER, findMismatches, type Mismatch, type Schema } from "./answer-schema.ts";
import type { UpstreamOperation } from "./possible-values.ts";

/** The keys that lead to a part of a golden case: names lead into all items of a list, and an index into one. */
export type Path = readonly (string | number)[];

/** A change of a golden case: another value at a path. Undefined removes the member. */
export interface Change {
  readonly path: Path;
  readonly value: unknown;
}

/** A response in the golden case that the upstream's document describes. */
interface TriedAnswer {
  readonly operation: UpstreamOperation;
  /** The path of its body, or of the rows of a catalog. */
  readonly at: Path;
  /** All changes of one value. */
  readonly changes: readonly Change[];
  /** The places that the changes are about. Other places are fixed, or no object of the golden case has them. */
  readonly tried: ReadonlySet<unknown>;
}

/** The common facts of all trials of a pack. */
export interface TrialFacts {
  readonly pack: Pack;
  /** The objects of the upstream's catalogs. */
  readonly lists: CatalogLists;
  /** Pipelines by their catalogs. */
  readonly runs: WeakMap<object, ExampleRun>;
  /** Finds the operation of a call in the upstream's document. */
  readonly findOperation: (call: string) => UpstreamOperation | undefined;
}

/** Maximum number of members of one response for which other values are tried. */
export const MOST_TRIED = 800;

export type Body = ExampleDefinition["response"]["body"];

/** Whether a path leads to the part at the start, or below it. */
export const startsWith = (path: Path, start: Path): boolean =>
  start.every((key, index) => path[index] === key);

/** Returns the part of a golden case at a path. */
export const partAt = (definition: unknown, path: Path): unknown =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<PropertyKey, unknown>>)[key], definition);

/** Returns a copy of a part with a new value at a path. */
export function withValue(part: unknown, path: Path, value: unknown): unknown {
  const [key, ...deeper] = path;
  if (key === undefined) return value;
  if (Array.isArray(part) && typeof key === "string") return part.map((item) => withValue(item, path, value));
  if (Array.isArray(part)) return part.with(Number(key), withValue(part[Number(key)], deeper, value));
  return isObject(part) ? { ...part, [key]: withValue(part[key], deeper, value) } : part;
}

/** Whether a part of a golden case has objects for the member at a path. */
function hasObjectsAt(part: unknown, [key = "", ...deeper]: Path): boolean {
  if (Array.isArray(part)) return part.some((item) => hasObjectsAt(item, [key, ...deeper]));
  return isObject(part) && (deeper.length === 0 || hasObjectsAt(part[String(key)], deeper));
}

/** Returns the members that a list's condition names. The upstream omits items with other values. */
const membersIn = (where: unknown): string[] =>
  Object.entries(isObject(where) ? where : {}).flatMap(([key, value]) => [
    key,
    ...(Array.isArray(value) ? value.flatMap(membersIn) : []),
  ]);

/** Returns changes to allowed values in place of those of types that the upstream's document does not allow, except null. */
const repairs = ({ operation: { schema, places }, at }: TriedAnswer, golden: ExampleDefinition): Change[] =>
  findMismatches(partAt(golden, at), schema).flatMap(({ place, actual, keyword }) => {
    const [, ...path] = place.split(".");
    const found = places.find((each) => each.path.join(".") === path.join("."));
    const value = found?.values.find((each) => each !== undefined);
    const isWrong = keyword === "type" && actual !== null && path.length > 0 && value !== undefined;
    return isWrong ? [{ path: [...at, ...path], value }] : [];
  });

/** A route with a golden case. */
export class RouteTrial {
  readonly route: Route;
  /** The described responses. */
  readonly answers: readonly TriedAnswer[];
  /** Whether a change led to a call without a response in the golden case, so that its result is unknown. */
  isIncomplete = false;
  readonly #schema: Schema;
  readonly #facts: TrialFacts;
  readonly #golden: ExampleDefinition;

  /** @param schema The description of the response in the client's document */
  constructor(route: Route, schema: Schema, golden: ExampleDefinition, facts: TrialFacts) {
    this.route = route;
    this.#schema = schema;
    this.#facts = facts;
    const { calls } = "catalog" in route.source ? route.source.catalog : { calls: [] };
    const requests = calls.map(({ path }) => catalogRequest(path));
    const rows = requests.map((key) => [key, golden.catalogs?.[key] ?? facts.lists[key] ?? []]);
    const { losses: _losses, ...definition } = golden;
    this.#golden = { ...definition, ...(rows.length > 0 && { catalogs: Object.fromEntries(rows) }) };
    const ofCalls = golden.upstream.flatMap(({ request }, index) => this.#answerOfCall(request, index));
    this.answers = [...ofCalls, ...requests.flatMap((request) => this.#answerOfCatalog(request))];
    this.#golden = this.change(ofCalls.flatMap((answer) => repairs(answer, golden)));
  }

  #answerOfCall(call: string, index: number): TriedAnswer[] {
    const { response, source, lists, resource } = this.route;
    const { method, path } = splitCall(call, this.#facts.pack.dialect.upstream.base_path);
    const isMain = "call" in source && source.call.method === method && source.call.matches(path);
    const shape = response === "list" && isMain ? lists.envelope.upstream.list : {};
    const items = findPath(shape, "items", { list: resource.upstreamList ?? "" });
    return this.#answer(call, ["upstream", index, "response", "body"], items);
  }

  #answerOfCatalog(request: string): TriedAnswer[] {
    const { shape, name = "" } = catalogShapes(this.#facts.pack).get(request) ?? {};
    const items = findPath(shape, "items", { list: name });
    return this.#answer(request, ["catalogs", request], items, items?.length);
  }

  /**
   * Returns a response, if the document describes it.
   *
   * @param items The path of the items of a list, whose other members are about pages; empty for other responses
   * @param skipped The number of keys of a place that are not part of the golden case
   */
  #answer(call: string, at: Path, items: readonly string[] = [], skipped = 0): TriedAnswer[] {
    const operation = this.#facts.findOperation(call);
    const fixed = membersIn(this.route.where);
    const tried = (operation?.places ?? [])
      .slice(0, MOST_TRIED)
      .filter(({ path }) => path.length > items.length && startsWith(path, items))
      .filter(({ path }) => !fixed.some((member) => `.${path.join(".")}`.endsWith(`.${member}`)))
      .filter(({ path }) => hasObjectsAt(partAt(this.#golden, at), path.slice(skipped)));
    const changes = tried.flatMap(({ path, values }) =>
      values.map((value) => ({ path: [...at, ...path.slice(skipped)], value })),
    );
    return operation ? [{ operation, at, changes, tried: new Set(tried) }] : [];
  }

  /** Returns the golden case with changes. */
  change(changes: readonly Change[]): ExampleDefinition {
    let definition: unknown = this.#golden;
    for (const { path, value } of changes) definition = withValue(definition, path, value);
    return definition as ExampleDefinition;
  }

  /** Returns the golden case with changes, and with the calls that it leads to. */
  writeGolden(changes: readonly Change[], received: readonly ReceivedCall[]): ExampleDefinition {
    const definition = this.change(changes);
    const upstream = received.flatMap(({ index, request, filter, body }) => {
      const [method = "", path = ""] = request.split(" ");
      const written = `${method} ${withoutPrefix(path, this.#facts.pack.dialect.upstream.base_path)}`;
      const call = definition.upstream[index];
      return call ? [{ ...call, request: written, filter: filter as Body, body: body as Body }] : [];
    });
    return { ...definition, upstream };
  }

  /** Runs the golden case with changes, and checks the response. A failure of the pack is a mismatch of the whole answer. */
  async run(changes: readonly Change[]) {
    const { pack, lists, runs } = this.#facts;
    const definition = this.change(changes);
    const { catalogs = lists } = definition;
    let run = runs.get(catalogs);
    if (!run) {
      run = await createExampleRun(pack, { ...lists, ...catalogs });
      run.dryRun.catalogs.stop();
      runs.set(catalogs, run);
    }
    const [leftOut] = this.route.kind === "catalog" ? run.dryRun.catalogs.leftOut().values() : [];
    const { response } = await sendExample(pack, run, definition);
    const { received } = run.v4;
    const status = leftOut ? 500 : response.status;
    const isUnknown = received.some(({ index }) => index < 0);
    this.isIncomplete ||= isUnknown;
    const expected = "an answer: an expression fails";
    const failure = { place: ANSWER, actual: leftOut?.message ?? status, expected };
    let mismatches: readonly Mismatch[] = !isUnknown && status >= 500 ? [failure] : [];
    if (isUnknown || status >= 300) return { status, received, mismatches };
    const body = tryParse(response.body)?.value ?? response.body;
    mismatches = findMismatches(body, this.#schema);
    return { status, body, received, mismatches };
  }
}
