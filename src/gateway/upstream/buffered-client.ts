import type { Dispatcher } from "undici";
import { type CancelSignal, pauseUntilAborted, TimeLimit } from "./cancel-signal.ts";
import type { HttpRequest, HttpResponse } from "./http-call.ts";
import type { ConnectionShares } from "./connection-shares.ts";
import { decodeContent, toUtf8 } from "./content-decoding.ts";
import { OUTAGE_STATUSES, toUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { UpstreamPool } from "./upstream-pool.ts";
import { wasClosedWhileIdle } from "./watched-connection.ts";

/** Pauses before the second and third attempt. They bridge a lost connection; a restart of v4 takes longer. */
const RETRY_PAUSES_MS = [50, 250];

/** Errors after which another attempt is pointless. */
const NOT_RETRIED = new Set(["too_large", "timed_out", "circuit_open", "no_connection"]);

/** Idempotent methods (RFC 9110 9.2.2) without retries. */
const SENT_AGAIN = new Set(["PUT", "DELETE"]);

/** Whether a write may be sent once more: v4 closed the idle connection when it came, and sent no byte. */
const isSentAgain = ({ method }: HttpRequest, error: unknown): boolean =>
  SENT_AGAIN.has(method) && wasClosedWhileIdle(error);

/** A whole response, its body not decoded. */
interface RawResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

type DecodedResponse = Omit<HttpResponse, "ms">;

/** A request with its retries. For the circuit breaker it is one call with one outcome. */
interface Sending {
  readonly request: HttpRequest;
  readonly limit: TimeLimit;
  /** Reports the outcome of the last attempt; undefined until one was allowed. */
  report: (() => void) | undefined;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Collects one response of undici's dispatcher. Own code for speed: `request()` creates a stream for each body, which
 * costs as much as the request itself, and the gateway needs the whole body anyway.
 */
class ResponseCollector implements Dispatcher.DispatchHandler {
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

export interface BufferedClientOptions {
  readonly pool: UpstreamPool;
  readonly shares: ConnectionShares;
  readonly timeoutMs: number;
  /** Largest response in bytes, decoded. */
  readonly maxResponseBytes: number;
}

/** Sends requests whose bodies fit in memory, and buffers the whole responses. It retries GET requests. */
export class BufferedClient {
  readonly #options: BufferedClientOptions;

  constructor(options: BufferedClientOptions) {
    this.#options = options;
  }

  /** Sends a request, as described at `Upstream.call`. */
  async call(request: HttpRequest, signal?: CancelSignal): Promise<HttpResponse> {
    const started = performance.now();
    const { timeoutMs } = this.#options;
    const limit = new TimeLimit(
      signal,
      timeoutMs,
      () => new UpstreamError("timed_out", `no response in ${timeoutMs} ms`),
    );
    const sending: Sending = { request, limit, report: undefined };
    try {
      const { status, headers, bytes } = await this.#attemptWithRetries(sending);
      return { status, headers, bytes, ms: performance.now() - started };
    } catch (error) {
      throw error instanceof UpstreamError ? error : (limit.reason ?? toUpstreamError(error));
    } finally {
      sending.report?.();
      limit.release();
    }
  }

  async #attemptWithRetries(sending: Sending): Promise<DecodedResponse> {
    const { request, limit } = sending;
    for (const pause of request.method === "GET" ? RETRY_PAUSES_MS : []) {
      let failure: UpstreamError | undefined;
      try {
        const response = await this.#attempt(sending);
        if (!limit.reason && !OUTAGE_STATUSES.has(response.status)) return response;
      } catch (error) {
        failure = toUpstreamError(error);
      }
      const { reason } = limit;
      if (reason) throw failure ?? reason;
      if (failure && NOT_RETRIED.has(failure.kind)) throw failure;
      await pauseUntilAborted(pause, limit);
    }
    return this.#attempt(sending);
  }

  /** @param isAgain whether this write was sent before */
  async #attempt(sending: Sending, isAgain = false): Promise<DecodedResponse> {
    const { request, limit } = sending;
    const { client } = request;
    const { pool, shares, maxResponseBytes } = this.#options;
    limit.throwIfAborted();
    // Nobody waits for a connection while the circuit is open for it.
    if (!isAgain) pool.assertCircuitNotOpen(client);
    const acquired = shares.acquire(client, limit);
    const mustWait = acquired instanceof Promise;
    const release = mustWait ? await acquired : acquired;
    try {
      limit.throwIfAborted();
      if (!sending.report) pool.enterCircuit(client);
    } catch (error) {
      release();
      throw error;
    }
    let response: RawResponse;
    try {
      response = await this.#dispatch(request, limit, release, mustWait);
    } catch (error) {
      const wasNotRead = isSentAgain(request, error);
      pool.replaceAfter(error);
      sending.report = () => pool.recordError(wasNotRead ? undefined : error, client);
      if (wasNotRead && !isAgain) return this.#attempt(sending, true);
      throw error;
    }
    const { status, headers, body } = response;
    sending.report = () => pool.recordStatus(status, client);
    const coding = headers["content-encoding"];
    const data = coding === undefined ? body : await decodeContent(body, String(coding), maxResponseBytes);
    return { status, headers, bytes: toUtf8(data) };
  }

  /** Sends a request over an acquired connection, which is released when undici is done with it. */
  #dispatch(
    request: HttpRequest,
    limit: TimeLimit,
    release: () => void,
    waited: boolean,
  ): Promise<RawResponse> {
    const { method, headers, body = null } = request;
    const { pool } = this.#options;
    return new Promise((resolve, reject) => {
      let isDone = false;
      const collector = new ResponseCollector(resolve, reject, () => {
        release();
        isDone = true;
      });
      limit.addEventListener("abort", () => {
        if (!isDone && limit.reason) collector.abort(this.#toFailure(limit.reason, collector, waited));
      });
      pool.current().dispatch({ path: pool.target(request), method, headers, body }, collector);
    });
  }

  /** After a wait for a connection, a time-out is v4's failure only if v4 had half of the time. */
  #toFailure(reason: UpstreamError, collector: ResponseCollector, waited: boolean): UpstreamError {
    const hadTime = !waited || collector.connectedMs() >= this.#options.timeoutMs / 2;
    if (reason.kind !== "timed_out" || hadTime) return reason;
    const message = `all connections were in use, for most of ${this.#options.timeoutMs} ms`;
    return new UpstreamError("no_connection", message);
  }
}
