/** An upstream that answers as its document describes. */
import { findPath, onePage, type Pack, type Shape, valueAt } from "../../pack/index.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../../gateway/index.ts";
import { catalogShapes } from "../../compare/index.ts";
import { type Operation, operationKey, type Surface } from "../../migration/index.ts";
import { ANSWER } from "./answer-tree.ts";
import { DescribedAnswer, type FindHints } from "./described-answer.ts";
import { keyWithout, type FindOperation } from "./find-operation.ts";

/** An operation of the document, with the answers that it may give. */
export interface DescribedOperation {
  /** `GET /books/{}`, without the prefix of all paths. */
  readonly key: string;
  readonly answer: DescribedAnswer;
  readonly status: number;
  /** The list that the pack reads in pages, and the keys that lead to its items; undefined for others. */
  readonly list:
    | { readonly shape: Shape; readonly name: string; readonly items: readonly string[] }
    | undefined;
}

/** A call that was answered. */
export interface AnsweredCall {
  readonly request: HttpRequest;
  readonly operation: DescribedOperation | undefined;
  readonly status: number;
  readonly body: unknown;
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

/** The status of successful answers, preferably one with a body. */
function successOf({ successes, answer }: Operation): number {
  const found = [...successes].find((status) => answer.size === 0 || status !== "204") ?? "200";
  return Number(found.replaceAll("X", "0")) || 200;
}

/** Answers by a document. The answers of some operations can be replaced. */
export class DescribedUpstream implements Upstream {
  /** The answers that replace the usual ones, by keys of operations. Answers of lists are on one page. */
  replaced: ReadonlyMap<string, unknown> = new Map();
  /** The calls since this was emptied. */
  received: AnsweredCall[] = [];
  readonly #operations = new Map<string, DescribedOperation>();
  readonly #find: FindOperation;

  constructor(pack: Pack, surface: Surface, find: FindOperation, hintsOf: (key: string) => FindHints) {
    this.#find = find;
    const shapes = listShapes(pack);
    for (const operation of surface.values()) {
      const key = keyWithout(pack.dialect.upstream.base_path, operation.name);
      const answer = new DescribedAnswer(operation, hintsOf(key));
      const list = shapes.get(key) ?? { shape: pack.lists.upstream, name: "" };
      const items = findPath(list.shape, "items", { list: list.name });
      const isList = answer.tree.get([ANSWER, ...(items ?? [])].join("."))?.place.types.has("array") === true;
      this.#operations.set(key, {
        key,
        answer,
        status: successOf(operation),
        list: items && isList ? { ...list, items } : undefined,
      });
    }
  }

  /** The operation of a call. Undefined if the document has none. */
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

  #bodyOf({ key, answer, list }: DescribedOperation): unknown {
    const body = this.replaced.has(key) ? this.replaced.get(key) : answer.build();
    const rows = list && valueAt(body, list.items);
    return list && Array.isArray(rows) ? onePage(list.shape, rows, list.name) : body;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
