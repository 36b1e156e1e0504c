/** One route with one request, to which answers of the upstream are tried. */
import { isObject } from "../../base/index.ts";
import { compileGetter, compileSetter, type Pack, type Route, valueAt } from "../../pack/index.ts";
import {
  type CatalogLists,
  catalogRequest,
  createCatalogUpstream,
  createDryRun,
  type DryRun,
} from "../../compare/index.ts";
import { ANSWER, type AnswerTree } from "./answer-tree.ts";
import { findMismatches, type Mismatch } from "./check-answer.ts";
import type { Edit } from "./described-answer.ts";
import type { DescribedOperation, DescribedUpstream } from "./described-upstream.ts";
import type { Patterns } from "./pattern.ts";
import type { TrialRequest } from "./trial-request.ts";

/** One change of the usual answer of an operation. */
export interface OperationEdit {
  readonly operation: DescribedOperation;
  readonly edit: Edit;
}

/** Answers in place of the usual ones, by keys of operations. */
export type Answers = ReadonlyMap<string, unknown>;

/** The client's response to given answers. */
export interface TrialResult {
  readonly status: number;
  readonly body: unknown;
  readonly mismatches: readonly Mismatch[];
}

/** The pipeline of a pack in front of an upstream that answers by its document. */
export interface Pipeline {
  readonly pack: Pack;
  readonly upstream: DescribedUpstream;
  readonly dryRun: DryRun;
  /** Reads the catalogs: those of golden cases, if there are any, or all from the document. */
  readonly readCatalogs: (by: "golden cases" | "document") => Promise<void>;
}

/** Creates the pipeline of a pack. */
export function createPipeline(pack: Pack, upstream: DescribedUpstream, lists: CatalogLists): Pipeline {
  const known = createCatalogUpstream(pack, lists);
  let isByDocument = false;
  const catalogUpstream = {
    async call(request: Parameters<typeof known.call>[0]) {
      const response = await known.call(request);
      return response.status === 200 && !isByDocument ? response : upstream.call(request);
    },
    close: () => Promise.resolve(),
  };
  const dryRun = createDryRun(pack, upstream, { catalogUpstream });
  async function readCatalogs(by: "golden cases" | "document"): Promise<void> {
    isByDocument = by === "document";
    await dryRun.catalogs.refresh();
  }
  return { pack, upstream, dryRun, readCatalogs };
}

/** The values that the condition of a list allows at some members of its items. */
type Allowed = ReadonlyMap<string, readonly unknown[]>;

/** Reads the equalities of a condition. Operators other than "and" and "or" allow all values. */
function allowedBy(where: Readonly<Record<string, unknown>>, writer: Pack["filterWriter"]): Allowed {
  const allowed = new Map<string, readonly unknown[]>();
  const add = (key: string, values: readonly unknown[]): void =>
    void allowed.set(key, [...(allowed.get(key) ?? []), ...values]);
  for (const [key, value] of Object.entries(where))
    if (key === writer.key("and") || key === writer.key("or"))
      for (const inner of Array.isArray(value) ? value.filter(isObject) : [])
        for (const [name, values] of allowedBy(inner, writer)) add(name, values);
    else if (typeof value !== "object" || value === null) add(key, [value]);
  return allowed;
}

/** Gives the items of a list values that its condition allows: the upstream leaves out all others. */
function fitItems(rows: unknown, allowed: Allowed): void {
  for (const row of Array.isArray(rows) ? rows.filter(isObject) : [])
    for (const [path, values] of allowed)
      if (!values.includes(compileGetter(path)(row) ?? null)) compileSetter(path)(row, values[0]);
}

/** A JSON body, or another one as its text. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A route with a request. */
export class RouteTrial {
  readonly route: Route;
  /** The client's description of the answers. */
  readonly tree: AnswerTree;
  readonly request: TrialRequest;
  readonly pipeline: Pipeline;
  /** The requests of the lists that a catalog is read from, if the route has its objects. */
  readonly lists: readonly string[];
  readonly #patterns: Patterns;
  /** The list of the route, if it adds a condition. */
  readonly #conditioned: { readonly operation: DescribedOperation; readonly allowed: Allowed } | undefined;

  constructor(route: Route, tree: AnswerTree, request: TrialRequest, pipeline: Pipeline, patterns: Patterns) {
    this.route = route;
    this.tree = tree;
    this.request = request;
    this.pipeline = pipeline;
    this.#patterns = patterns;
    const { source, where } = route;
    this.lists = "catalog" in source ? source.catalog.calls.map(({ path }) => catalogRequest(path)) : [];
    const operation =
      "call" in source && where
        ? pipeline.upstream.operationOf(source.call.method, source.call.template)
        : undefined;
    if (operation?.list && where)
      this.#conditioned = { operation, allowed: allowedBy(where, pipeline.pack.filterWriter) };
  }

  /** The members that items need to be in the list, with the key of its operation first. */
  neededPaths(): (readonly string[])[] {
    const { operation, allowed } = this.#conditioned ?? {};
    if (!operation || !allowed) return [];
    const items = [operation.key, ...(operation.list?.items ?? [])];
    return [...allowed.keys()].map((path) => [...items, ...path.split(".")]);
  }

  /** The usual answers, with changes. */
  build(edits: readonly OperationEdit[]): Answers {
    const byOperation = Map.groupBy(edits, ({ operation }) => operation);
    const { operation: list, allowed } = this.#conditioned ?? {};
    if (list && !byOperation.has(list)) byOperation.set(list, []);
    return new Map(
      [...byOperation].map(([operation, of]) => {
        const answer = operation.answer.build(of.map(({ edit }) => edit));
        if (operation === list && allowed) fitItems(valueAt(answer, list.list?.items ?? []), allowed);
        return [operation.key, answer] as const;
      }),
    );
  }

  /** The operations of the upstream that were called last. For a catalog: the operations that list it. */
  called(): DescribedOperation[] {
    const operations = this.pipeline.upstream.received.flatMap(({ operation }) => operation ?? []);
    const isCatalog = "catalog" in this.route.source;
    return [...new Set(operations)].filter(({ key }) => !isCatalog || this.lists.includes(key));
  }

  /** Calls that the document does not have. */
  unknownCalls(): string[] {
    if ("catalog" in this.route.source) return [];
    const unknown = this.pipeline.upstream.received.filter(({ operation }) => operation === undefined);
    return unknown.map(({ request: { method, path } }) => `${method} ${path.split("?")[0]}`);
  }

  /** Sends the request and checks the response. A failure of the pack is a mismatch of the whole answer. */
  async run(answers: Answers): Promise<TrialResult> {
    const { upstream, dryRun, readCatalogs } = this.pipeline;
    upstream.replaced = answers;
    upstream.received = [];
    const isCatalog = "catalog" in this.route.source;
    if (isCatalog) await readCatalogs("document");
    const failed = isCatalog ? [...dryRun.catalogs.leftOut().values()][0]?.message : undefined;
    const { response } = await dryRun.send(this.request.sent);
    const { status } = response;
    if (failed !== undefined || status >= 500) {
      const actual = failed ?? status;
      const mismatch = { place: ANSWER, actual, expected: "an answer: an expression fails" };
      return { status, body: undefined, mismatches: [mismatch] };
    }
    if (status >= 300) return { status, body: undefined, mismatches: [] };
    const body = jsonOrText(response.body);
    return { status, body, mismatches: findMismatches(body, this.tree, this.#patterns) };
  }
}
