/** An upstream that responds as its OpenAPI document says. */
import { addQuery } from "../../../mapping/compile/endpoint.ts";
import type { HttpRequest, HttpResponse, Upstream } from "../../../upstream/client.ts";
import type { DescribedApi, DescribedOperation } from "./described-api.ts";

/** A call that the upstream got, and how it responded. */
export interface DescribedCall {
  readonly request: HttpRequest;
  /** Undefined if the document has no such operation. */
  readonly operation: DescribedOperation | undefined;
  readonly status: number;
  readonly body: unknown;
}

/** Calls that one request may lead to. More of them are a loop. */
const MAX_CALLS = 60;

/** Responds with a plain value of each operation, or with one that was set. */
export class DescribedUpstream implements Upstream {
  readonly #api: DescribedApi;
  readonly #plain = new Map<DescribedOperation, unknown>();
  #set: ReadonlyMap<DescribedOperation, unknown> = new Map();
  #calls: DescribedCall[] = [];

  constructor(api: DescribedApi) {
    this.#api = api;
  }

  /** Begins another request. @param bodies Responses of operations in place of plain ones */
  begin(bodies: ReadonlyMap<DescribedOperation, unknown> = new Map()): void {
    this.#set = bodies;
    this.#calls = [];
  }

  /** The calls since then. */
  get calls(): readonly DescribedCall[] {
    return this.#calls;
  }

  /** The plain response of an operation. */
  plain(operation: DescribedOperation): unknown {
    if (!this.#plain.has(operation))
      this.#plain.set(
        operation,
        operation.schema === undefined ? undefined : this.#api.values.plain(operation.schema),
      );
    return this.#plain.get(operation);
  }

  async call(request: HttpRequest): Promise<HttpResponse> {
    const { method, path, secretQuery = "" } = request;
    const operation = this.#api.ofRequest(method, addQuery(path, secretQuery));
    const isLoop = this.#calls.length >= MAX_CALLS;
    const body = operation && (this.#set.has(operation) ? this.#set.get(operation) : this.plain(operation));
    const status = operation && !isLoop ? operation.status : 404;
    this.#calls.push({ request, operation, status, body });
    const text = status === 404 ? "{}" : body === undefined ? "" : JSON.stringify(body);
    return { status, headers: {}, bytes: Buffer.from(text), ms: 0 };
  }

  async close(): Promise<void> {}
}
