import type { Dispatcher } from "undici";
import type { CancelSignal, HttpRequest, HttpResponse } from "./client.ts";
import type { ConnectionShares, ShareClient } from "./connection-shares.ts";
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

/** Cancels a request: its time is up, or its client disconnected. */
interface Cancellation {
  /** Why it was cancelled; undefined if it was not. */
  readonly reason: () => UpstreamError | undefined;
  /** Sets the listener, in place of the one before. It is called once. */
  onCancel(listener: (reason: UpstreamError) => void): void;
  /** Must be called when the request has ended. */
  release(): void;
}

function createCancellation(timeoutMs: number, signal: CancelSignal | undefined): Cancellation {
  let reason: UpstreamError | undefined;
  let listener: (reason: UpstreamError) => void = () => {};
  function cancel(kind: "client_aborted" | "timed_out", message: string): void {
    if (reason) return;
    reason = new UpstreamError(kind, message);
    listener(reason);
  }
  const onAbort = () => cancel("client_aborted", "the client disconnected");
  const timer = setTimeout(() => cancel("timed_out", `no response in ${timeoutMs} ms`), timeoutMs);
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort);
  return {
    reason: () => reason,
    onCancel(newListener) {
      listener = newListener;
    },
    release() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}

function throwIfCancelled(cancellation: Cancellation): void {
  const reason = cancellation.reason();
  if (reason) throw reason;
}

function pauseFor(ms: number, cancellation: Cancellation): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    cancellation.onCancel((reason) => {
      clearTimeout(timer);
      reject(reason);
    });
  });
}

/** A whole response, its body not decoded. */
interface RawResponse {
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

/** Sends a request and buffers the whole response, as described at `Upstream.call`. */
export type BufferedClient = (request: HttpRequest, signal?: CancelSignal) => Promise<HttpResponse>;

/** Creates the client for requests whose bodies fit in memory. It retries GET requests. */
export function createBufferedClient({
  pool,
  shares,
  timeoutMs,
  maxResponseBytes,
}: BufferedClientOptions): BufferedClient {
  /** Waits for a connection. Nobody waits while the circuit is open. */
  function waitForConnection(client: ShareClient | undefined, cancellation: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      pool.assertCircuitNotOpen();
      const leaveQueue = shares.enqueue(client, resolve);
      cancellation.onCancel((reason) => {
        leaveQueue();
        reject(reason.kind === "timed_out" ? shares.unavailable(timeoutMs) : reason);
      });
    });
  }

  /** After a wait for a connection, a time-out is v4's failure only if v4 had half of the time. */
  function toFailure(reason: UpstreamError, collector: ResponseCollector, waited: boolean): UpstreamError {
    if (reason.kind !== "timed_out" || !waited || collector.connectedMs() >= timeoutMs / 2) return reason;
    const message = `all connections were in use, for most of ${timeoutMs} ms`;
    return new UpstreamError("no_connection", message);
  }

  /** Sends a request over an acquired connection, which is released when undici is done with it. */
  function dispatch(request: HttpRequest, cancellation: Cancellation, waited: boolean): Promise<RawResponse> {
    const { method, headers, body, client } = request;
    return new Promise((resolve, reject) => {
      let isDone = false;
      const collector = new ResponseCollector(resolve, reject, () => {
        if (!isDone) shares.release(client);
        isDone = true;
      });
      cancellation.onCancel((reason) => {
        if (!isDone) collector.abort(toFailure(reason, collector, waited));
      });
      pool.current().dispatch({ path: pool.target(request), method, headers, body: body ?? null }, collector);
    });
  }

  async function attempt(request: HttpRequest, cancellation: Cancellation): Promise<RawResponse> {
    const { client } = request;
    throwIfCancelled(cancellation);
    const mustWait = !shares.tryAcquire(client);
    if (mustWait) await waitForConnection(client, cancellation);
    try {
      throwIfCancelled(cancellation);
      pool.enterCircuit();
    } catch (error) {
      shares.release(client);
      throw error;
    }
    try {
      const response = await dispatch(request, cancellation, mustWait);
      pool.recordStatus(response.status, client);
      return response;
    } catch (error) {
      pool.recordError(isSentAgain(request, error) ? undefined : error, client);
      throw error;
    }
  }

  async function attemptOnUsableConnection(
    request: HttpRequest,
    cancellation: Cancellation,
  ): Promise<RawResponse> {
    try {
      return await attempt(request, cancellation);
    } catch (error) {
      if (!isSentAgain(request, error)) throw error;
      return attempt(request, cancellation);
    }
  }

  async function attemptDecoded(
    request: HttpRequest,
    cancellation: Cancellation,
  ): Promise<Omit<HttpResponse, "ms">> {
    const { status, headers, body } = await attemptOnUsableConnection(request, cancellation);
    const coding = headers["content-encoding"];
    const data = coding === undefined ? body : await decodeContent(body, String(coding), maxResponseBytes);
    return { status, headers, bytes: toUtf8(data) };
  }

  async function attemptWithRetries(
    request: HttpRequest,
    cancellation: Cancellation,
  ): Promise<Omit<HttpResponse, "ms">> {
    for (const pause of request.method === "GET" ? RETRY_PAUSES_MS : []) {
      const result = await attemptDecoded(request, cancellation).catch(toUpstreamError);
      const isError = result instanceof UpstreamError;
      const reason = cancellation.reason();
      if (reason) throw isError ? result : reason;
      if (!isError && !OUTAGE_STATUSES.has(result.status)) return result;
      if (isError && NOT_RETRIED.has(result.kind)) throw result;
      await pauseFor(pause, cancellation);
    }
    return attemptDecoded(request, cancellation);
  }

  return async function call(request, signal) {
    const started = performance.now();
    const cancellation = createCancellation(timeoutMs, signal);
    try {
      const { status, headers, bytes } = await attemptWithRetries(request, cancellation);
      return { status, headers, bytes, ms: performance.now() - started };
    } catch (error) {
      throw error instanceof UpstreamError ? error : (cancellation.reason() ?? toUpstreamError(error));
    } finally {
      cancellation.release();
    }
  };
}
