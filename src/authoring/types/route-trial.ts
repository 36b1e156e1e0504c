/** A golden case of a route, for which other responses of the upstream are tried. */
import { tryParse } from "../../audit/index.ts";
import { isObject } from "../../base/index.ts";
import { findPath, type Pack, type Route } from "../../pack/index.ts";
import { type CatalogLists, catalogRequest, catalogShapes } from "../../compare/index.ts";
import type { ReceivedCall } from "../examples/compare-example.ts";
import { type ExampleDefinition, splitCall, withoutPrefix } from "../examples/example.ts";
import { createExampleRun, type ExampleRun, sendExample } from "../examples/run-examples.ts";
import type { Operation } from "../../migration/index.ts";
import { ANSWER, type Mismatch, type Schemas } from "./answer-schema.ts";
import type { Upstream, UpstreamOperation } from "./possible-values.ts";

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
}

/** The client's response to changed responses of the upstream. */
interface TrialResult {
  readonly status: number;
  readonly body?: unknown;
  readonly mismatches: readonly Mismatch[];
  readonly received: readonly ReceivedCall[];
}

/** The common facts of all trials of a pack. */
export interface TrialFacts {
  readonly pack: Pack;
  readonly schemas: Schemas;
  /** The objects of the upstream's catalogs. */
  readonly lists: CatalogLists;
  readonly upstream: Upstream;
}

/** Maximum number of members of one response for which other values are tried. */
export const MOST_TRIED = 800;

type Body = ExampleDefinition["response"]["body"];

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

/** Returns the members that a list's condition names. The upstream omits items with other values. */
const membersIn = (where: unknown): string[] =>
  Object.entries(isObject(where) ? where : {}).flatMap(([key, value]) => [
    key,
    ...(Array.isArray(value) ? value.flatMap(membersIn) : []),
  ]);

/** A route with a golden case. */
export class RouteTrial {
  readonly route: Route;
  /** The description of the response in the client's document. */
  readonly described: Operation;
  readonly facts: TrialFacts;
  /** The described responses. */
  readonly answers: readonly TriedAnswer[];
  /** Whether a change led to a call without a response in the golden case, so that its result is unknown. */
  isIncomplete = false;
  #definition: ExampleDefinition;
  #run: ExampleRun | undefined;
  readonly #findMismatches: (body: unknown) => readonly Mismatch[];

  constructor(route: Route, described: Operation, golden: ExampleDefinition, facts: TrialFacts) {
    this.route = route;
    this.described = described;
    this.facts = facts;
    const requests =
      "catalog" in route.source ? route.source.catalog.calls.map(({ path }) => catalogRequest(path)) : [];
    const rows = requests.map((key) => [key, [...(golden.catalogs?.[key] ?? facts.lists[key] ?? [])]]);
    const { losses: _losses, ...definition } = golden;
    this.#definition = { ...definition, ...(rows.length > 0 && { catalogs: Object.fromEntries(rows) }) };
    this.#findMismatches = facts.schemas.compile(facts.schemas.ofAnswer(described));
    const ofCalls = golden.upstream.flatMap(({ request }, index) => this.#answerOfCall(request, index));
    this.answers = [...ofCalls, ...requests.flatMap((request) => this.#answerOfCatalog(request))];
    this.#definition = this.changed(ofCalls.flatMap((answer) => this.#repairs(answer)));
  }

  #answerOfCall(call: string, index: number): TriedAnswer[] {
    const { response, source, lists, resource } = this.route;
    const { method, path } = splitCall(call, this.facts.pack.dialect.upstream.base_path);
    const isMain = "call" in source && source.call.method === method && source.call.matches(path);
    const list = response === "list" && isMain ? lists.envelope.upstream.list : {};
    const items = findPath(list, "items", { list: resource.upstreamList ?? "" });
    return this.#answer(call, ["upstream", index, "response", "body"], items);
  }

  #answerOfCatalog(request: string): TriedAnswer[] {
    const { shape, name = "" } = catalogShapes(this.facts.pack).get(request) ?? {};
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
    const operation = this.facts.upstream.find(call);
    const fixed = membersIn(this.route.where);
    const tried = (operation?.places ?? [])
      .slice(0, MOST_TRIED)
      .filter(({ path }) => path.length > items.length && startsWith(path, items))
      .filter(({ path }) => !fixed.some((member) => `.${path.join(".")}`.endsWith(`.${member}`)));
    const changes = tried.flatMap(({ path, values }) =>
      values.map((value) => ({ path: [...at, ...path.slice(skipped)], value })),
    );
    return operation ? [{ operation, at, changes }] : [];
  }

  /** Returns changes to allowed values in place of those that the upstream's document does not allow, except null. */
  #repairs({ operation, at }: TriedAnswer): Change[] {
    return operation.findMismatches(partAt(this.#definition, at)).flatMap(({ place, actual, rule }) => {
      const path = place.split(".").slice(1);
      const found = operation.places.find((each) => each.path.join(".") === path.join("."));
      const value = found?.values.find((each) => each !== undefined);
      const isRepaired = rule === "type" && actual !== null && path.length > 0 && value !== undefined;
      return isRepaired ? [{ path: [...at, ...path], value }] : [];
    });
  }

  /** Returns the golden case with changes. */
  changed(changes: readonly Change[]): ExampleDefinition {
    return changes.reduce<unknown>(
      (definition, { path, value }) => withValue(definition, path, value),
      this.#definition,
    ) as ExampleDefinition;
  }

  /** Returns the golden case with changes, and with the calls that it leads to. */
  writeGolden(changes: readonly Change[], received: readonly ReceivedCall[]): ExampleDefinition {
    const definition = this.changed(changes);
    const upstream = received.flatMap(({ index, request, filter, body }) => {
      const [method = "", path = ""] = request.split(" ");
      const written = `${method} ${withoutPrefix(path, this.facts.pack.dialect.upstream.base_path)}`;
      const call = definition.upstream[index];
      return call ? [{ ...call, request: written, filter: filter as Body, body: body as Body }] : [];
    });
    return { ...definition, upstream };
  }

  /** Runs the golden case with changes, and checks the response. A failure of the pack is a mismatch of the whole answer. */
  async run(changes: readonly Change[]): Promise<TrialResult> {
    const { pack, lists } = this.facts;
    const definition = this.changed(changes);
    if (this.route.kind === "catalog" || !this.#run)
      this.#run = await createExampleRun(pack, { ...lists, ...definition.catalogs });
    const run = this.#run;
    const [leftOut] = this.route.kind === "catalog" ? run.dryRun.catalogs.leftOut().values() : [];
    const { response } = await sendExample(pack, run, definition);
    run.dryRun.catalogs.stop();
    const { received } = run.v4;
    const { status } = response;
    const isUnknown = received.some(({ index }) => index < 0);
    this.isIncomplete ||= isUnknown;
    const result = { status, received, mismatches: [] };
    if (!isUnknown && (leftOut || status >= 500)) {
      const actual = leftOut?.message ?? status;
      return {
        ...result,
        mismatches: [{ place: ANSWER, actual, expected: "an answer: an expression fails" }],
      };
    }
    if (isUnknown || status >= 300) return result;
    const body = tryParse(response.body)?.value ?? response.body;
    return { ...result, body, mismatches: this.#findMismatches(body) };
  }
}
