/** An upstream that answers as its document describes. */
import { findPath, onePage, type Pack, type Route, type Shape, valueAt } from "../../pack/index.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../../gateway/index.ts";
import { catalogShapes } from "../../compare/index.ts";
import { type Operation, operationKey, type Surface } from "../../migration/index.ts";
import { DescribedAnswer, type AnswerHints } from "./described-answer.ts";

/** An operation of the document, with the answers that it may give. */
export interface DescribedOperation {
  /** `GET /books/{}`, without the prefix of all paths. */
  readonly key: string;
  readonly answer: DescribedAnswer;
  readonly status: number;
  /** The keys that lead to the items of a list; undefined if it is none that the pack reads in pages. */
  readonly items: readonly string[] | undefined;
  readonly list: { readonly shape: Shape; readonly name: string } | undefined;
}

/** A call that was answered. */
export interface AnsweredCall {
  readonly request: HttpRequest;
  readonly operation: DescribedOperation | undefined;
  readonly status: number;
  readonly body: unknown;
}

/** The key of an operation without the prefix that all paths of an API have. */
export function keyWithout(prefix: string, name: string): string {
  const [method = "", path = ""] = operationKey(name).split(" ");
  return `${method} ${prefix !== "" && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path}`;
}

/** A pattern of the paths of an operation. @param last What its last parameter matches */
const pathPattern = (key: string, last: string): RegExp => {
  const parts = key.split("{}").map((part) => RegExp.escape(part));
  const end = parts.pop() ?? "";
  const start = parts.join("[^/]+");
  return new RegExp(`^${parts.length > 0 ? start + last : ""}${end}$`);
};

/** Finds the key of the operation of a request; undefined if the document has none. @param path With or without the prefix */
export type FindOperation = (method: string, path: string) => string | undefined;

/** The keys of all calls of a route. */
function callsOf(route: Route): string[] {
  const { source, prerequisites, wait, related, readAfterWrite, mergeParts, withoutScopes } = route;
  const steps = [
    ...prerequisites,
    ...related,
    ...(wait ? [wait] : []),
    ...(readAfterWrite ? [readAfterWrite] : []),
  ];
  const endpoints = [
    ...("call" in source ? [source.call] : []),
    ...steps.map(({ endpoint }) => endpoint),
    ...mergeParts.flatMap(({ read, write }) => [read, write]),
  ];
  const own = endpoints.map(({ method, template }) => operationKey(`${method} ${template.split("?")[0]}`));
  return withoutScopes ? [...own, ...callsOf(withoutScopes)] : own;
}

/** Prepares the search for operations. Of several, the one with the fewest parameters is found. */
export function createOperationFinder(surface: Surface, pack: Pack): FindOperation {
  const prefix = pack.dialect.upstream.base_path;
  const byParameters = (one: string, other: string): number =>
    one.split("{}").length - other.split("{}").length;
  const keys = [...surface.values()].map(({ name }) => keyWithout(prefix, name)).sort(byParameters);
  const patternsOf = (all: readonly string[], last: string) =>
    all.map((key) => ({ key, matches: pathPattern(key, last) }));
  const exact = patternsOf(keys, "[^/]+");
  const called = patternsOf([...new Set(pack.routes.flatMap(callsOf))], "[^/]+");
  // A value with slashes is within other paths: it is none where the pack has such a call, which the document lacks then.
  const withSlashes = patternsOf(keys, ".+");
  return (method, path) => {
    const [bare = ""] = path.split("?");
    const inner = prefix !== "" && bare.startsWith(`${prefix}/`) ? bare.slice(prefix.length) : bare;
    const find = (patterns: typeof exact): string | undefined =>
      patterns.find(({ matches }) => matches.test(`${method} ${inner}`))?.key;
    return find(exact) ?? (find(called) === undefined ? find(withSlashes) : undefined);
  };
}

/** The shapes of lists, by the operations that have them. */
function listShapes(pack: Pack): ReadonlyMap<string, { readonly shape: Shape; readonly name: string }> {
  const shapes = new Map([...catalogShapes(pack)].map(([request, list]) => [operationKey(request), list]));
  for (const { response, source, lists, resource } of pack.routes)
    if (response === "list" && "call" in source)
      shapes.set(operationKey(`${source.call.method} ${source.call.template.split("?")[0]}`), {
        shape: lists.envelope.upstream.list,
        name: resource.upstreamList ?? "",
      });
  return shapes;
}

/** The status of successful answers: one with a body, where there is one. */
function successOf({ successes, answer }: Operation): number {
  const found = [...successes].find((status) => answer.size === 0 || status !== "204") ?? "200";
  return Number(found.replaceAll("X", "0")) || 200;
}

function describeOperation(
  operation: Operation,
  shapes: ReturnType<typeof listShapes>,
  hintsOf: (key: string) => AnswerHints,
  pack: Pack,
): DescribedOperation {
  const key = keyWithout(pack.dialect.upstream.base_path, operation.name);
  const answer = new DescribedAnswer(operation, hintsOf(key));
  const list = shapes.get(key) ?? { shape: pack.lists.upstream, name: "" };
  const items = findPath(list.shape, "items", { list: list.name });
  const isList =
    items !== undefined &&
    answer.nodes().some((node) => node.isList && node.path.join(".") === items.join("."));
  return {
    key,
    answer,
    status: successOf(operation),
    items: isList ? items : undefined,
    list: isList ? list : undefined,
  };
}

/** Answers by a document. The answers of some operations can be replaced. */
export class DescribedUpstream implements Upstream {
  /** The answers in place of the usual ones, by keys of operations. Those of lists are put on one page. */
  replaced: ReadonlyMap<string, unknown> = new Map();
  /** What a list is asked for. Items that it excludes are left out, as the upstream does. */
  condition: { readonly key: string; readonly includes: (item: unknown) => boolean } | undefined;
  /** The calls since this was emptied. */
  received: AnsweredCall[] = [];
  readonly #operations: ReadonlyMap<string, DescribedOperation>;
  readonly #find: FindOperation;

  constructor(pack: Pack, surface: Surface, find: FindOperation, hintsOf: (key: string) => AnswerHints) {
    this.#find = find;
    const shapes = listShapes(pack);
    this.#operations = new Map(
      [...surface.values()].map((operation) => {
        const described = describeOperation(operation, shapes, hintsOf, pack);
        return [described.key, described];
      }),
    );
  }

  /** The operation of a call; undefined if the document has none. */
  operationOf(method: string, path: string): DescribedOperation | undefined {
    return this.#operations.get(this.#find(method, path) ?? "");
  }

  async call(request: HttpRequest): Promise<HttpResponse> {
    const operation = this.operationOf(request.method, request.path);
    const body = operation && this.#bodyOf(operation);
    const status = operation?.status ?? 404;
    this.received.push({ request, operation, status, body });
    const text = body === undefined || status === 204 ? "" : JSON.stringify(body);
    return { status, headers: {}, bytes: Buffer.from(text), ms: 0 };
  }

  #bodyOf({ key, answer, items, list }: DescribedOperation): unknown {
    const body = this.replaced.has(key) ? this.replaced.get(key) : answer.build();
    const rows = items && valueAt(body, items);
    if (!list || !Array.isArray(rows)) return body;
    const { condition } = this;
    const included = condition?.key === key ? rows.filter(condition.includes) : rows;
    return onePage(list.shape, included, list.name);
  }

  async close(): Promise<void> {}
}
