/** One request to the upstream, and the upstream's response. */
import type { ClientRequest, IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { hasBody } from "../bodies/receive-body.ts";
import { pipeAllButEnd } from "../bodies/unread-rest.ts";
import {
  addVary,
  forNode,
  hasUnknownCoding,
  removeCorsHeaders,
  setHeaders,
} from "../http/forwarded-headers.ts";
import { IDEMPOTENT } from "../upstream/http-call.ts";
import { outcomeOfError, toUpstreamError, UpstreamError } from "../upstream/upstream-error.ts";
import type { UpstreamOptions } from "../upstream/client.ts";
import type { Exchange } from "./exchange.ts";

/** A chunk with fewer bytes is more expensive to forward than to read. */
const SMALL_CHUNK = 1024;

/** Handles the events of the client and of the upstream. */
export class ForwardedRequest {
  /** The target of the request at the upstream. */
  readonly target: string;
  readonly #exchange: Exchange;
  readonly #options: UpstreamOptions;
  readonly #send: () => void;
  readonly #hasBody: boolean;
  /**
   * The timeout of the head of the response, counted from the last byte of the request, and then of each pause in the
   * body. The socket's own timeout is not enough, because each byte of an interim response would restart it.
   */
  readonly #timer: NodeJS.Timeout;
  #upstreamRequest: ClientRequest | undefined;
  /** Number of bytes that the connection had received before this request. */
  #bytesBefore = 0;
  /** Whether the request was sent again on a new connection. */
  #isResent = false;
  /** Whether the client has received its response, or has disconnected. */
  #isDone = false;

  /** @param send sends the request, for the first time or again */
  constructor(exchange: Exchange, options: UpstreamOptions, send: () => void) {
    const { timeoutMs, origin } = options;
    this.target = origin.pathname.replace(/\/$/, "") + (exchange.request.url ?? "");
    this.#exchange = exchange;
    this.#options = options;
    this.#send = send;
    this.#hasBody = hasBody(exchange.request);
    this.#timer = setTimeout(() => this.#onTimeout(), timeoutMs);
    exchange.cancel = () => this.#cancel();
  }

  /** Ends the request, because its client has disconnected or has received its response. */
  #cancel(): void {
    if (!this.#isDone) this.#upstreamRequest?.destroy();
    this.#stop();
  }

  /** Returns the client's body. Undefined if not found. */
  body(): Readable | undefined {
    return this.#hasBody ? Readable.from(this.#readBody(this.#exchange.request)) : undefined;
  }

  /**
   * Reads the client's body. If the upstream refuses it, the rest is read and discarded, so that the client reads the
   * response.
   */
  async *#readBody(request: IncomingMessage): AsyncGenerator<Buffer> {
    const exchange = this.#exchange;
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        exchange.onSent(chunk);
        this.#restartTimer();
        yield chunk;
        // A client may send single bytes. Bytes that arrive in the meantime are sent together.
        if (chunk.length < SMALL_CHUNK) await nextTurn();
      }
      this.#restartTimer();
    } catch {
      // The request is cancelled before the end of the body, which would make the body look complete.
      this.#cancel();
    } finally {
      request.resume();
    }
  }

  #restartTimer(): void {
    if (this.#exchange.upstreamStatus === null && !this.#isDone) this.#timer.refresh();
  }

  #onTimeout(): void {
    const { response, upstreamStatus } = this.#exchange;
    if (this.#isDone) return;
    // The client does not read its response, so the upstream is not responsible for the delay.
    if (upstreamStatus !== null && response.writableNeedDrain) return void this.#timer.refresh();
    const { timeoutMs } = this.#options;
    const what = upstreamStatus === null ? "response" : "more of the response";
    this.onError(new UpstreamError("timed_out", `no ${what} in ${timeoutMs} ms`));
  }

  /** Called when the request has a connection. */
  onConnection(upstreamRequest: ClientRequest): void {
    if (this.#isDone) return void upstreamRequest.destroy();
    this.#upstreamRequest = upstreamRequest;
    this.#bytesBefore = upstreamRequest.socket?.bytesRead ?? 0;
    // The library sends `Connection: close` with a chunked body, and Node would use the connection again (RFC 9112 9.6).
    if (upstreamRequest.getHeader("connection") === "close") upstreamRequest.shouldKeepAlive = false;
    // Without this listener, Node would close the connection, and report neither a response nor an error.
    upstreamRequest.once("upgrade", (_response, socket) => {
      socket.destroy();
      this.#onSwitch();
    });
  }

  /** Handles a switch to a different protocol, which no request asked for. */
  #onSwitch(): void {
    this.onError(new UpstreamError("truncated", `${this.#options.name} switched protocols unasked`));
  }

  /** Called when the head of the upstream's response has arrived. Node has skipped informational responses. */
  onResponse(upstreamResponse: IncomingMessage): void {
    if (this.#isDone) return void upstreamResponse.resume();
    this.#timer.refresh();
    const exchange = this.#exchange;
    const { statusCode: status = 0 } = upstreamResponse;
    const { name } = this.#options;
    // If `Connection: upgrade` is missing, Node treats it as a response.
    if (status === 101) return this.#onSwitch();
    exchange.onHead(status, upstreamResponse.headers);
    if (hasUnknownCoding(upstreamResponse.headers))
      return this.#refuse(`${name} used a transfer coding that was not requested`);
    if (status < 200 || status > 599) return this.#refuse(`${name} responded with the status ${status}`);
    this.#setHead(status, upstreamResponse.headers);
    // Such a response ends after its head, regardless of the following bytes (RFC 9112 6.3).
    if (status === 204 || status === 304 || exchange.request.method === "HEAD") {
      upstreamResponse.resume();
      this.#complete();
      return exchange.end();
    }
    this.#stream(upstreamResponse);
  }

  #setHead(status: number, received: IncomingMessage["headers"]): void {
    const { request, response, policy } = this.#exchange;
    const headers = { ...received };
    policy.cleanResponse(headers);
    if (policy.hasOwnCors) removeCorsHeaders(headers);
    addVary(headers, response);
    if (status === 204) delete headers["content-length"];
    response.statusCode = status;
    setHeaders(response, forNode(headers));
    // As the client requested, without Node's additions about the connection. HTTP/1.0 does not support chunks: the end
    // of the connection marks the end of the body.
    const isKept = response.shouldKeepAlive && request.httpVersion !== "1.0";
    response.setHeader("connection", isKept ? "keep-alive" : "close");
  }

  #stream(upstreamResponse: IncomingMessage): void {
    const exchange = this.#exchange;
    const { response, policy } = exchange;
    upstreamResponse.on("data", (chunk: Buffer) => {
      exchange.onReceived(chunk);
      this.#timer.refresh();
    });
    if (policy.recordFirst) {
      const onError = (error: Error): void => {
        if (!exchange.isComplete) this.onError(error);
      };
      upstreamResponse.on("end", () => this.#complete());
      return pipeAllButEnd(upstreamResponse, response, (rest) => exchange.end(rest), onError);
    }
    // The library forwards errors, and destroys each side with the other. A `pipeline()` would do it again, with an
    // `AbortController` and an error for each response.
    upstreamResponse.pipe(response, { end: false });
    upstreamResponse.on("end", () => {
      this.#complete();
      exchange.end();
    });
  }

  /**
   * Called when the upstream's whole response has arrived. If the client is still sending its body, the rest is not
   * forwarded.
   */
  #complete(): void {
    this.#stop();
    this.#exchange.isComplete = this.#exchange.fault === undefined;
    if (this.#upstreamRequest?.writableEnded === false) this.#upstreamRequest.destroy();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#isDone = true;
  }

  /** Sends the request again, or responds to an error of the connection. */
  onError(error: Error): void {
    if (this.#isDone) return;
    const exchange = this.#exchange;
    const isSentAgain = exchange.upstreamStatus === null && this.#isSentAgain(error);
    this.#upstreamRequest?.destroy();
    if (isSentAgain) {
      this.#isResent = true;
      return this.#send();
    }
    if (exchange.upstreamStatus !== null)
      return this.#breakOff(`${this.#options.name} broke its response off: ${error.message}`);
    this.#stop();
    // A disconnected client proves nothing about the upstream.
    if (!exchange.response.destroyed) this.#endWithError(error);
  }

  /** Ends a response that must not be sent to the client. The record contains the status of an error. */
  #refuse(fault: string): void {
    const { response, policy } = this.#exchange;
    response.statusCode = policy.errors.failed.status;
    this.#breakOff(fault);
  }

  /** After the head of the response, any failure ends the client's connection, as in nginx. */
  #breakOff(fault: string): void {
    this.#stop();
    this.#upstreamRequest?.destroy();
    this.#exchange.fault ??= fault;
    this.#exchange.response.destroy();
  }

  /** Whether the request is sent again: the upstream closed the idle connection while it was being reused. */
  #isSentAgain(error: Error): boolean {
    if (this.#isResent || this.#hasBody || error instanceof UpstreamError) return false;
    const { socket, reusedSocket: isReused = false } = this.#upstreamRequest ?? {};
    const hasResponse = socket?.bytesRead !== this.#bytesBefore;
    return isReused && !hasResponse && IDEMPOTENT.has(this.#exchange.request.method ?? "");
  }

  /**
   * Responds to an error before the upstream's head. If a connection breaks while the client is still sending, the
   * client may have caused it. It must not be able to open the circuit for other clients.
   */
  #endWithError(error: Error): void {
    const exchange = this.#exchange;
    const { kind, message } = toUpstreamError(error);
    exchange.fault ??= message;
    if (exchange.request.complete || kind === "unreachable") {
      exchange.reportOutcome(outcomeOfError(error, exchange.isAccepted), error);
      return exchange.fail(kind === "timed_out" ? "timedOut" : "failed");
    }
    exchange.reportOutcome("ignored");
    exchange.reject(exchange.policy.errors.failed);
  }
}
