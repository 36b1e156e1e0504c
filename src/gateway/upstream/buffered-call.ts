import type { Dispatcher } from "undici";
import { NOT_MODIFIED } from "../../pack/index.ts";
import { pauseUntilAborted, TimeLimit } from "./cancel-signal.ts";
import { decodeContent, toUtf8 } from "./content-decoding.ts";
import {
  type CallUpstream,
  type HttpRequest,
  type HttpResponse,
  IDEMPOTENT,
  type ResponseHead,
} from "./http-call.ts";
import { OUTAGE_STATUSES, toUpstreamError, UndecodableError, UpstreamError } from "./upstream-error.ts";
import type { UpstreamPool } from "./upstream-pool.ts";
import { wasClosedWhileIdle } from "./watched-connection.ts";

/** Pauses before the second and third attempt. They bridge a lost connection; a restart of v4 takes longer. */
const RETRY_PAUSES_MS = [50, 250];

/** Errors that are not retried, because a further attempt would fail as well. */
const NOT_RETRIED = new Set(["too_large", "timed_out", "circuit_open", "no_connection"]);

/** Whether a write is sent again. A GET has its own retries. */
const isSentAgain = ({ method }: Pick<HttpRequest, "method">, error: unknown): boolean =>
  method !== "GET" && IDEMPOTENT.has(method) && wasClosedWhileIdle(error);

/** A whole response with its undecoded body. */
interface RawResponse extends ResponseHead {
  readonly body: Buffer;
}

type DecodedResponse = Omit<HttpResponse, "ms">;

const NO_BYTES = Buffer.alloc(0);

/** Lower statuses are informational: another head follows. */
const FINAL_STATUS = 200;

/**
 * Collects one response of undici's dispatcher. This is own code for speed: `request()` creates a stream for each body,
 * which costs as much as the request itself, and the gateway needs the whole body anyway.
 */
class ResponseCollector implements Dispatcher.DispatchHandler {
  /** Called with each head. It returns an error if the response must not be read. */
  readonly #onHead: (head: ResponseHead) => UpstreamError | undefined;
  readonly #resolve: (response: RawResponse) => void;
  readonly #reject: (error: unknown) => void;
  /** Called when undici has finished with the request, which may be long after it was aborted. */
  readonly #onDone: () => void;
  readonly #limit: TimeLimit;
  #controller: Dispatcher.DispatchController | undefined;
  #isDone = false;
  #head: ResponseHead = { status: 0, headers: {} };
  #chunks: Buffer[] = [];

  constructor(
    limit: TimeLimit,
    onHead: (head: ResponseHead) => UpstreamError | undefined,
    onDone: () => void,
    resolve: (response: RawResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#limit = limit;
    this.#onHead = onHead;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onDone = onDone;
    limit.addEventListener("abort", () => this.#abort());
  }

  /** Aborts the request, now or as soon as it has a connection. */
  #abort(): void {
    const { reason } = this.#limit;
    if (this.#isDone || !reason) return;
    this.#controller?.abort(reason);
    this.#reject(reason);
  }

  #end(): void {
    this.#isDone = true;
    this.#onDone();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#limit.reason) controller.abort(this.#limit.reason);
  }

  /** Called for the final response, and for informational responses before it. */
  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHead["headers"],
  ): void {
    this.#head = { status, headers };
    const refusal = this.#onHead(this.#head);
    if (refusal) controller.abort(refusal);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    const [first = NO_BYTES] = this.#chunks;
    const body = this.#chunks.length > 1 ? Buffer.concat(this.#chunks) : first;
    this.#resolve({ ...this.#head, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.#reject(error);
  }
}

interface BufferedCallOptions {
  readonly pool: UpstreamPool;
  readonly timeoutMs: number;
  /** Maximum size of a decoded response in bytes. */
  readonly maxBytes: number;
  /** Whether no request is sent twice. */
  readonly neverRetries: boolean;
  /** Whether bodies that are not UTF-8 stay as they are. */
  readonly keepsBytes: boolean;
}

/** A request with its retries. For the circuit breaker it is one call with one outcome. */
class BufferedCall {
  readonly #options: BufferedCallOptions;
  readonly #request: HttpRequest<string | Buffer>;
  readonly #limit: TimeLimit;
  /** Reports the outcome of the last attempt to the breaker; undefined until an attempt was allowed. */
  report: (() => void) | undefined;

  constructor(options: BufferedCallOptions, request: HttpRequest<string | Buffer>, limit: TimeLimit) {
    this.#options = options;
    this.#request = request;
    this.#limit = limit;
  }

  async send(): Promise<DecodedResponse> {
    const isRetried = this.#request.method === "GET" && !this.#options.neverRetries;
    for (const pause of isRetried ? RETRY_PAUSES_MS : []) {
      let failure: UpstreamError | undefined;
      try {
        const response = await this.#attempt();
        if (!this.#limit.reason && !OUTAGE_STATUSES.has(response.status)) return response;
      } catch (error) {
        failure = toUpstreamError(error);
      }
      const { reason } = this.#limit;
      if (reason) throw failure ?? reason;
      if (failure && NOT_RETRIED.has(failure.kind)) throw failure;
      await pauseUntilAborted(pause, this.#limit);
    }
    return this.#attempt();
  }

  /** @param isAgain whether this write was already sent once */
  async #attempt(isAgain = false): Promise<DecodedResponse> {
    const { client } = this.#request;
    const { pool, maxBytes, neverRetries, keepsBytes } = this.#options;
    this.#limit.throwIfAborted();
    if (!isAgain) pool.assertCircuitNotOpen(client);
    const acquired = pool.shares.acquire(client, this.#limit);
    const mustWait = acquired instanceof Promise;
    const release = mustWait ? await acquired : acquired;
    try {
      this.#limit.throwIfAborted();
      if (!this.report) pool.enterCircuit(client);
    } catch (error) {
      release();
      throw error;
    }
    const startedAt = performance.now();
    let response: RawResponse;
    try {
      response = await this.#dispatch(release);
    } catch (error) {
      const wasNotRead = isSentAgain(this.#request, error);
      const failure = mustWait ? this.#toFailureAfterWait(error, startedAt) : error;
      pool.replaceAfter(error);
      this.report = () => pool.recordError(wasNotRead ? undefined : failure, client);
      if (wasNotRead && !isAgain && !neverRetries) return this.#attempt(true);
      throw failure;
    }
    const { status, headers, body } = response;
    this.report = () => pool.recordStatus(status, client);
    const coding = headers["content-encoding"];
    try {
      const data = coding === undefined ? body : await decodeContent(body, String(coding), maxBytes);
      return { status, headers, bytes: keepsBytes ? data : toUtf8(data) };
    } catch (error) {
      throw new UndecodableError(error);
    }
  }

  /** Sends the request over an acquired connection, which is released when undici has finished with it. */
  #dispatch(release: () => void): Promise<RawResponse> {
    const { pool } = this.#options;
    const endWait = this.#request.onSent?.();
    const onHead = (head: ResponseHead): UpstreamError | undefined => {
      if (head.status >= FINAL_STATUS) endWait?.();
      return this.#refuse(head);
    };
    return new Promise((resolve, reject) => {
      const collector = new ResponseCollector(this.#limit, onHead, release, resolve, reject);
      pool.current.dispatch(pool.optionsOf(this.#request), collector);
    });
  }

  /** Returns the error for a response that announces a body above the limit, so that no byte of it is read. */
  #refuse({ status, headers }: ResponseHead): UpstreamError | undefined {
    const { maxBytes } = this.#options;
    const hasBody = this.#request.method !== "HEAD" && status !== NOT_MODIFIED;
    return hasBody && Number(headers["content-length"]) > maxBytes
      ? new UpstreamError("too_large", `the response has more than ${maxBytes} bytes`)
      : undefined;
  }

  /** Converts an error after a wait for a connection: a time-out is only v4's failure if v4 had at least half of the time. */
  #toFailureAfterWait(error: unknown, startedAt: number): unknown {
    const { timeoutMs } = this.#options;
    const hadTime = performance.now() - startedAt >= timeoutMs / 2;
    if (hadTime || toUpstreamError(error).kind !== "timed_out") return error;
    return new UpstreamError("no_connection", `all connections were in use, for most of ${timeoutMs} ms`);
  }
}

/** Creates the function that sends requests whose bodies fit in memory, and buffers their whole responses. */
export function createBufferedCall(options: BufferedCallOptions): CallUpstream {
  const { timeoutMs } = options;
  const onTimeout = (): UpstreamError => new UpstreamError("timed_out", `no response in ${timeoutMs} ms`);
  return async function callUpstream(request, signal) {
    const startedAt = performance.now();
    const limit = new TimeLimit(signal, timeoutMs, onTimeout);
    const call = new BufferedCall(options, request, limit);
    try {
      const { status, headers, bytes } = await call.send();
      return { status, headers, bytes, ms: performance.now() - startedAt };
    } catch (error) {
      throw error instanceof UpstreamError ? error : (limit.reason ?? toUpstreamError(error));
    } finally {
      call.report?.();
      limit.release();
    }
  };
}
