import type { Dispatcher } from "undici";

/** A whole response, its body not decoded. */
export interface RawResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Collects one response of undici's dispatcher. Own code for speed: `request()` creates a stream for each body, which
 * costs as much as the request itself, and the gateway needs the whole body anyway.
 */
export class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: RawResponse) => void;
  readonly #reject: (error: unknown) => void;
  readonly #onDone: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: Error | undefined;
  #status = 0;
  #headers: RawResponse["headers"] = {};
  #chunks: Buffer[] = [];
  #startedAt: number | undefined;

  /** @param onDone Called when undici is done with the request, which may be long after it was aborted. */
  constructor(
    resolve: (response: RawResponse) => void,
    reject: (error: unknown) => void,
    onDone: () => void,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onDone = onDone;
  }

  /** How long the request has had a connection, in milliseconds. Before that it waits in undici's queue. */
  connectedMs(): number {
    return this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt;
  }

  /** Aborts the request, now or as soon as it has a connection. It fails with this error. */
  abort(error: Error): void {
    this.#abortReason = error;
    this.#controller?.abort(error);
    this.#reject(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#startedAt = performance.now();
    if (this.#abortReason) controller.abort(this.#abortReason);
  }

  /** Also called for informational responses, before the final one. */
  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: RawResponse["headers"],
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#onDone();
    const [first = NO_BYTES] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#onDone();
    this.#reject(error);
  }
}
