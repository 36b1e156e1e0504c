import type { Dispatcher } from "undici";

/** An answer as it came, its body in one piece and still coded. */
export interface RawResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Collects one answer of undici's dispatcher. A stream for each body, which `request()` makes, costs as much as
 * the call itself, and is read to its end here all the same.
 */
export class ResponseCollector implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: RawResponse) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #broken: Error | undefined;
  #status = 0;
  #headers: RawResponse["headers"] = {};
  #chunks: Buffer[] = [];
  #startedAt: number | undefined;
  readonly #onOver: () => void;

  /** @param onOver called once undici is done with the call, which may be long after it was broken off */
  constructor(resolve: (answer: RawResponse) => void, reject: (error: unknown) => void, onOver: () => void) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onOver = onOver;
  }

  /** For how long it has had a connection, in milliseconds; before that it waits in undici's queue. */
  connectedMs(): number {
    return this.#startedAt === undefined ? 0 : performance.now() - this.#startedAt;
  }

  /** Ends the call, now or as soon as it has a connection; it fails with this error. */
  breakOff(error: Error): void {
    this.#broken = error;
    this.#controller?.abort(error);
    this.#reject(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#startedAt = performance.now();
    if (this.#broken) controller.abort(this.#broken);
  }

  /** Informational answers come this way as well, before the one that counts. */
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
    this.#onOver();
    const [first = NO_BYTES] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#onOver();
    this.#reject(error);
  }
}
