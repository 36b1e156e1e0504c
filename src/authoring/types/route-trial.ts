/** One route with one request, to which answers of the upstream are tried. */
import { isObject } from "../../base/index.ts";
import { compileGetter, type Pack, type Route } from "../../pack/index.ts";
import {
  type CatalogLists,
  catalogRequest,
  createCatalogUpstream,
  createDryRun,
  type DryRun,
} from "../../compare/index.ts";
import { operationKey } from "../../migration/index.ts";
import type { ExampleDefinition } from "../examples/example.ts";
import { ANSWER, findMismatches, type AnswerType, type Mismatch } from "./check-answer.ts";
import type { Edit } from "./described-answer.ts";
import type { AnsweredCall, DescribedOperation, DescribedUpstream } from "./described-upstream.ts";
import type { Patterns } from "./pattern.ts";
import type { TrialRequest } from "./trial-request.ts";

/** One change of the usual answer of an operation. */
export interface OperationEdit {
  readonly operation: DescribedOperation;
  readonly edit: Edit;
}

/** Answers in place of the usual ones, by keys of operations. */
export type Answers = ReadonlyMap<string, unknown>;

/** What a client gets with some answers. */
export interface TrialResult {
  readonly status: number;
  readonly body: unknown;
  readonly mismatches: readonly Mismatch[];
}

/** The pipelines in front of an upstream that answers by its document. */
export interface Pipelines {
  /** With the catalogs of golden cases, as far as there are any. */
  readonly usual: DryRun;
  /** With catalogs by the document. */
  readonly catalogs: DryRun;
  readonly upstream: DescribedUpstream;
}

/** Creates the pipelines of a pack. */
export async function createPipelines(
  pack: Pack,
  upstream: DescribedUpstream,
  lists: CatalogLists,
): Promise<Pipelines> {
  const known = createCatalogUpstream(pack, lists);
  const catalogUpstream = {
    async call(request: Parameters<typeof known.call>[0]) {
      const response = await known.call(request);
      return response.status === 200 ? response : upstream.call(request);
    },
    close: () => Promise.resolve(),
  };
  const usual = createDryRun(pack, upstream, { catalogUpstream });
  await usual.catalogs.refresh();
  return { usual, catalogs: createDryRun(pack, upstream), upstream };
}

/** The calls of the upstream as a golden case expects them. */
function writeCalls(calls: readonly AnsweredCall[], pack: Pack): ExampleDefinition["upstream"] {
  const { base_path: prefix, filters } = pack.dialect.upstream;
  return calls.map(({ request: { method, path, headers, body }, status, body: answer }) => {
    const filter = headers[filters?.header?.toLowerCase() ?? ""];
    return {
      request: `${method} ${prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path}`,
      ...(filter !== undefined && { filter: JSON.parse(filter) as never }),
      ...(body !== undefined && body !== "" && { body: jsonOrText(body) as never }),
      response: { status, ...(answer !== undefined && { body: answer as never }) },
    };
  });
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Whether an item fits the condition that a route adds to its list. Operators other than "and" and "or" include all. */
function fitsCondition(
  item: unknown,
  where: Readonly<Record<string, unknown>>,
  filterWriter: Pack["filterWriter"],
): boolean {
  return Object.entries(where).every(([key, value]) => {
    const inner = Array.isArray(value) ? value.filter(isObject) : [];
    if (key === filterWriter.key("and"))
      return inner.every((each) => fitsCondition(item, each, filterWriter));
    if (key === filterWriter.key("or")) return inner.some((each) => fitsCondition(item, each, filterWriter));
    return (typeof value === "object" && value !== null) || (compileGetter(key)(item) ?? null) === value;
  });
}

/** The members of an item that a condition says by equality: of several alternatives the first. */
function conditionEdits(where: Readonly<Record<string, unknown>>, writer: Pack["filterWriter"]): Edit[] {
  return Object.entries(where).flatMap(([key, value]): Edit[] => {
    const inner = Array.isArray(value) ? value.filter(isObject) : [];
    if (key === writer.key("and")) return inner.flatMap((each) => conditionEdits(each, writer));
    if (key === writer.key("or")) return inner.slice(0, 1).flatMap((each) => conditionEdits(each, writer));
    return typeof value === "object" && value !== null ? [] : [{ path: key.split("."), value }];
  });
}

/** A route with a request. */
export class RouteTrial {
  readonly route: Route;
  readonly type: AnswerType;
  readonly #request: TrialRequest;
  readonly #pack: Pack;
  readonly #pipelines: Pipelines;
  readonly #patterns: Patterns;

  constructor(
    route: Route,
    type: AnswerType,
    request: TrialRequest,
    context: { readonly pack: Pack; readonly pipelines: Pipelines; readonly patterns: Patterns },
  ) {
    this.route = route;
    this.type = type;
    this.#request = request;
    this.#pack = context.pack;
    this.#pipelines = context.pipelines;
    this.#patterns = context.patterns;
  }

  /** The usual answers with changes. Items of lists fit the condition that the route adds. */
  build(edits: readonly OperationEdit[]): Answers {
    const { source, where } = this.route;
    const { upstream } = this.#pipelines;
    const changes: OperationEdit[] = [...edits];
    const list =
      "call" in source && where ? upstream.operationOf(source.call.method, source.call.template) : undefined;
    if (list?.items && where) {
      const { items } = list;
      const fitting = conditionEdits(where, this.#pack.filterWriter);
      changes.unshift(
        ...fitting.map(({ path, value }) => ({
          operation: list,
          edit: { path: [...items, ...path], value },
        })),
      );
    }
    const byOperation = Map.groupBy(changes, ({ operation }) => operation);
    return new Map(
      [...byOperation].map(([{ key, answer }, of]) => [key, answer.build(of.map(({ edit }) => edit))]),
    );
  }

  /** The operations of the upstream that were called last. Of a catalog: those that list it. */
  called(): DescribedOperation[] {
    const { source } = this.route;
    const listed =
      "catalog" in source ? source.catalog.calls.map(({ path }) => catalogRequest(path)) : undefined;
    const operations = this.#pipelines.upstream.received.flatMap(({ operation }) => operation ?? []);
    return [...new Set(operations)].filter(({ key }) => listed === undefined || listed.includes(key));
  }

  /** Calls that the document does not have. */
  unknownCalls(): string[] {
    if ("catalog" in this.route.source) return [];
    const unknown = this.#pipelines.upstream.received.filter(({ operation }) => operation === undefined);
    return unknown.map(({ request: { method, path } }) => `${method} ${path.split("?")[0]}`);
  }

  /** Sends the request and checks the response. A failure of the pack is a mismatch of the whole answer. */
  async run(answers: Answers): Promise<TrialResult> {
    const { upstream, usual, catalogs } = this.#pipelines;
    const { source, where } = this.route;
    upstream.replaced = answers;
    upstream.condition =
      "call" in source && where
        ? {
            key: operationKey(`${source.call.method} ${source.call.template}`),
            includes: (item) => fitsCondition(item, where, this.#pack.filterWriter),
          }
        : undefined;
    upstream.received = [];
    const isCatalog = "catalog" in this.route.source;
    const dryRun = isCatalog ? catalogs : usual;
    if (isCatalog) await catalogs.catalogs.refresh();
    const failed = isCatalog ? [...catalogs.catalogs.leftOut().values()][0]?.message : undefined;
    const { response } = await dryRun.send(this.#request.sent);
    const { status } = response;
    if (failed !== undefined || status >= 500) {
      const mismatch = {
        place: ANSWER,
        actual: failed ?? status,
        expected: "an answer: an expression fails",
      };
      return { status, body: undefined, mismatches: [mismatch] };
    }
    if (status >= 300) return { status, body: undefined, mismatches: [] };
    const body = jsonOrText(response.body);
    return { status, body, mismatches: findMismatches(body, this.type, this.#patterns) };
  }

  /** A golden case of some answers. @param body What clients should get */
  async writeGolden(answers: Answers, title: string, body: unknown): Promise<ExampleDefinition> {
    const { status } = await this.run(answers);
    const { source } = this.route;
    const { received } = this.#pipelines.upstream;
    const rows = (call: AnsweredCall): unknown[] => {
      const { operation, body: answer } = call;
      const items = (operation?.items ?? []).reduce<unknown>(
        (found, key) => (found as Record<string, unknown>)[key],
        answer,
      );
      return Array.isArray(items) ? items : [];
    };
    const lists = "catalog" in source ? source.catalog.calls.map(({ path }) => catalogRequest(path)) : [];
    const catalogs = lists.flatMap((request) => {
      const call = received.find(({ operation }) => operation?.key === request);
      return call ? [[request, rows(call)] as const] : [];
    });
    return {
      title,
      ...this.#request.written,
      ...(catalogs.length > 0 && { catalogs: Object.fromEntries(catalogs) as never }),
      upstream: catalogs.length > 0 ? [] : writeCalls(received, this.#pack),
      response: { status: status < 300 ? status : this.route.status, body: body as never },
    };
  }
}
