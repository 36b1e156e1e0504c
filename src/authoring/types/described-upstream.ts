/** An upstream that responds according to its document. */
import { findPath, onePage, type Pack, type Route, type Shape, valueAt } from "../../pack/index.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../../gateway/index.ts";
import { catalogRequest, catalogShapes } from "../../compare/index.ts";
import { type Operation, operationKey, type Surface } from "../../migration/index.ts";
import { findRoute, segmentsOf } from "../draft/find-route.ts";
import { withoutPrefix } from "../examples/example.ts";
import { ANSWER, type AnswerNode, answerTree, withValue } from "./answer-tree.ts";
import type { Patterns } from "./check-answer.ts";
import { collectHints, type KnownValues } from "./known-values.ts";
import { valuesOf } from "./possible-values.ts";

/** A change of the usual response of an operation: another value at a path. Undefined removes the member. */
export interface Change {
  /** The key of the operation. */
  readonly key: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** An operation of the document, with its possible responses. */
export interface DescribedOperation {
  /** The key: `GET /books/{}`, without the prefix of all paths. */
  readonly key: string;
  readonly nodes: readonly AnswerNode[];
  readonly usual: unknown;
  /** The changes that are tried, of the first {@link MOST_TRIED} members. */
  readonly changes: readonly Change[];
  readonly status: number;
  /** Puts the items of a list on one page; undefined for other responses. */
  readonly list:
    | { readonly shape: Shape; readonly name: string; readonly items: readonly string[] }
    | undefined;
}

/** Maximum number of members of one response for which other values are tried. */
export const MOST_TRIED = 800;

/** A call with its response. */
interface AnsweredCall {
  readonly request: HttpRequest;
  readonly operation: DescribedOperation | undefined;
  readonly status: number;
  readonly body: unknown;
}

/** Returns the key of an operation without the prefix of all paths of an API: `GET /books/{}`. */
export function keyWithout(prefix: string, name: string): string {
  const [method = "", path = ""] = operationKey(name).split(" ");
  return `${method} ${withoutPrefix(path.split("?", 1)[0] ?? "", prefix)}`;
}

/** Returns the keys of all calls of a route. */
export function callsOf({ source, calls, withoutScopes }: Route): string[] {
  const endpoints = [...("call" in source ? [source.call] : []), ...calls.map(({ endpoint }) => endpoint)];
  const catalogs = "catalog" in source ? source.catalog.calls.map(({ path }) => catalogRequest(path)) : [];
  const own = endpoints.map(({ method, template }) => keyWithout("", `${method} ${template}`));
  return [...own, ...catalogs, ...(withoutScopes ? callsOf(withoutScopes) : [])];
}

/** Returns the shapes of lists, by their operations. */
function listShapes(pack: Pack): ReadonlyMap<string, { readonly shape: Shape; readonly name: string }> {
  const shapes = new Map(catalogShapes(pack));
  for (const { response, source, lists, resource } of pack.routes)
    if (response === "list" && "call" in source)
      shapes.set(keyWithout("", `${source.call.method} ${source.call.template}`), {
        shape: lists.envelope.upstream.list,
        name: resource.upstreamList ?? "",
      });
  return shapes;
}

/** Returns the status of successful responses, preferably of one with a body. */
function successOf({ successes, answer }: Operation): number {
  const found = [...successes].find((status) => answer.size === 0 || status !== "204") ?? "200";
  return Number(found.replaceAll("X", "0")) || 200;
}

/** Returns the changes of one member. @param values its possible values, the usual one first */
function changesOf(
  key: string,
  { path, place }: AnswerNode,
  values: readonly unknown[],
  mayLack: boolean,
): Change[] {
  const others = values.slice(1).map((value) => ({ key, path, value }));
  return mayLack && !place.required && path.length > 0
    ? [...others, { key, path, value: undefined }]
    : others;
}

/** Returns the usual response of an operation with some changes. */
export const changedAnswer = ({ key, usual }: DescribedOperation, changes: readonly Change[]): unknown =>
  changes
    .filter((change) => change.key === key)
    .reduce((answer, { path, value }) => withValue(answer, path, value), usual);

/** Responds according to a document. */
export class DescribedUpstream implements Upstream {
  /** The changes of the usual responses. */
  changes: readonly Change[] = [];
  /** Sets the values that an item needs to belong to a list. */
  fit = (item: unknown): unknown => item;
  /** The calls since this list was cleared. */
  received: AnsweredCall[] = [];
  readonly operations: ReadonlyMap<string, DescribedOperation>;
  readonly #find: (method: string, path: string) => { readonly key: string } | undefined;

  constructor(pack: Pack, surface: Surface, known: KnownValues, patterns: Patterns) {
    const prefix = pack.dialect.upstream.base_path;
    const described = [...surface.values()].map(({ name }) => keyWithout(prefix, name));
    // A value with slashes is not part of the paths of the pack that are missing in the document.
    const calls = [...new Set([...described, ...pack.routes.flatMap(callsOf)])].map((key) => {
      const [method = "", path = ""] = key.split(" ");
      return { key, method, segments: segmentsOf(path) };
    });
    this.#find = findRoute(calls, prefix, true);
    const hintsOf = collectHints(pack, known, (method, path) => this.#operationOf(method, path));
    const shapes = listShapes(pack);
    const operations = [...surface.values()].map((operation): DescribedOperation => {
      const key = keyWithout(prefix, operation.name);
      const tree = answerTree(operation);
      const nodes = [...tree.values()];
      const values = valuesOf(nodes, { hintsOf: hintsOf(key), patterns });
      // If no member of an object is required, the document does not specify which members are present: all of them are.
      const optional = new Set(
        nodes.flatMap(({ members }) => {
          const all = [...members.values()];
          return all.some(({ place }) => place.required) ? all : [];
        }),
      );
      const list = shapes.get(key) ?? { shape: pack.lists.upstream, name: "" };
      const items = findPath(list.shape, "items", { list: list.name });
      const isList = tree.get([ANSWER, ...(items ?? [])].join("."))?.place.types.has("array") === true;
      return {
        key,
        nodes,
        usual: values.get(nodes[0]!)?.[0],
        changes: nodes
          .slice(0, MOST_TRIED)
          .flatMap((node) => changesOf(key, node, values.get(node) ?? [], optional.has(node))),
        status: successOf(operation),
        list: items && isList ? { ...list, items } : undefined,
      };
    });
    this.operations = new Map(operations.map((operation) => [operation.key, operation]));
  }

  /** Whether the response to a call differs from the usual one. */
  isChanged({ method, path }: HttpRequest): boolean {
    const operation = this.#operationOf(method, path);
    return this.changes.some(({ key }) => key === operation);
  }

  /** Returns the key of a call's operation, which may be missing in the document. */
  #operationOf(method: string, path: string): string {
    return this.#find(method, path.split("?", 1)[0] ?? "")?.key ?? "";
  }

  async call(request: HttpRequest): Promise<HttpResponse> {
    const operation = this.operations.get(this.#operationOf(request.method, request.path));
    const body = operation && this.#bodyOf(operation);
    const status = operation?.status ?? 404;
    this.received.push({ request, operation, status, body });
    const text = body === undefined || status === 204 ? "" : JSON.stringify(body);
    return { status, headers: {}, bytes: Buffer.from(text), ms: 0 };
  }

  #bodyOf(operation: DescribedOperation): unknown {
    const { list } = operation;
    const body = changedAnswer(operation, this.changes);
    const rows = list && valueAt(body, list.items);
    return list && Array.isArray(rows) ? onePage(list.shape, rows.map(this.fit), list.name) : body;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
