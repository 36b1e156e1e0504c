/** Streams the requests and responses of v4's own clients between them and v4, and notes in the exchange what passes. */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { outcomeOfError, toUpstreamError, UpstreamError } from "../upstream/upstream-error.ts";
import type { UpstreamPool } from "../upstream/upstream-pool.ts";
import { wasClosedWhileIdle } from "../upstream/watched-connection.ts";
import type { Exchange, Forwarding } from "./native-exchange.ts";
import { addVary, hasUnknownCoding, joinLines, removeCorsHeaders } from "./native-headers.ts";
import { hasBody } from "../http/receive-body.ts";

/** Bytes of a chunk that costs more to pass on than to read. */
const SMALL_CHUNK = 1024;

/** Sends the request of an exchange to v4, and v4's response to its client. */
export type StreamingProxy = (exchange: Exchange) => void;

export interface StreamingProxyOptions {
  /** Names the upstream in messages. */
  readonly name: string;
  readonly pool: UpstreamPool;
  readonly timeoutMs: number;
  /** Whether clients get the names of headers in the upstream's case. */
  readonly keepsHeaderCase?: boolean | undefined;
}

/** A reason phrase that a response may have (RFC 9112 4): other bytes end in an exception. */
const SENDABLE_PHRASE = /^[\t\x20-\x7e\x80-\xff]+$/;

/** The bytes of a phrase, each as one character. undici has read them as UTF-8, and replaces those that are not. */
const ownBytes = (phrase: string): string =>
  phrase.includes("\ufffd") ? "" : Buffer.from(phrase, "utf8").toString("latin1");

/**
 * Headers that Node sends byte by byte. Behind a length, it reads a `Content-Disposition` as UTF-8 and sends that as Latin-1:
 * so the length comes first, and the bytes are encoded once more.
 */
function forNode(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { "content-length": length, "content-disposition": disposition } = headers;
  if (disposition === undefined || !Number(length)) return headers;
  const encoded = Buffer.from(disposition, "utf8").toString("latin1");
  return { "content-length": length, ...headers, "content-disposition": encoded };
}

/** Idempotent methods (RFC 9110 9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** The names of v4's headers in its own case, by the names in lower case. */
function ownNames({ rawHeaders }: Dispatcher.DispatchController): ReadonlyMap<string, string> {
  const names = Array.isArray(rawHeaders) ? rawHeaders.filter((_, index) => index % 2 === 0).map(String) : [];
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}

/** One request on its way to v4, and the response on its way back. */
class StreamedForwarding implements Forwarding, Dispatcher.DispatchHandler {
  readonly #exchange: Exchange;
  readonly #options: StreamingProxyOptions;
  readonly #hasBody: boolean;
  /** The socket's own limit is not enough: each byte of v4 would start it again, also one of an interim response. */
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #abortReason: Error | undefined;
  /** Whether the request was sent once more, on another connection. */
  #isResent = false;
  /** Whether the client has its response, or is gone. */
  #isDone = false;

  constructor(exchange: Exchange, options: StreamingProxyOptions) {
    const { timeoutMs } = options;
    this.#exchange = exchange;
    this.#options = options;
    this.#hasBody = hasBody(exchange.request);
    this.#timer = setTimeout(
      () => this.#abort(new UpstreamError("timed_out", `no response in ${timeoutMs} ms`)),
      timeoutMs,
    );
    // Not a function: V8 puts one that is assigned to a property among its old objects, and the request stays with it.
    exchange.forwarding = this;
  }

  cancel(): void {
    clearTimeout(this.#timer);
    if (this.#isDone) return;
    this.#isDone = true;
    this.#abort(new UpstreamError("client_aborted", "the client disconnected"));
  }

  /** Sends the request. It waits where all connections are opening. */
  send(): void {
    const { method = "", url = "", headers } = this.#exchange.request;
    const { pool } = this.#options;
    const body = this.#hasBody ? Readable.from(this.#readBody(this.#exchange.request)) : null;
    // undici frames the body, and names the host.
    headers.host = undefined;
    headers["transfer-encoding"] = undefined;
    pool.current().dispatch({ path: pool.target({ path: url }), method, headers, body }, this);
  }

  /** The client's body. What v4 does not want any more is read and dropped, so that the client gets to its response. */
  async *#readBody(request: IncomingMessage): AsyncGenerator<Buffer> {
    const exchange = this.#exchange;
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        exchange.bytesIn += chunk.length;
        exchange.recording.onSent?.(chunk);
        this.#restartTimer();
        yield chunk;
        // A client may send a byte at a time: what comes meanwhile is then read, and sent, together.
        if (chunk.length < SMALL_CHUNK) await nextTurn();
      }
    } catch {
      this.cancel();
    } finally {
      request.resume();
    }
  }

  /** The time to the final head starts again with each progress of the request's body. */
  #restartTimer(): void {
    if (this.#exchange.v4Status === null && !this.#isDone) this.#timer.refresh();
  }

  /** Aborts the request, now or as soon as it has a connection. */
  #abort(reason: Error): void {
    this.#abortReason = reason;
    if (this.#controller) this.#controller.abort(reason);
    else this.#fail(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason) controller.abort(this.#abortReason);
  }

  onRequestSent(): void {
    this.#restartTimer();
  }

  /** Also called for informational responses, which are skipped. */
  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    phrase = "",
  ): void {
    if (status >= 100 && status < 200) return;
    clearTimeout(this.#timer);
    const exchange = this.#exchange;
    const { request, response, handlers } = exchange;
    const { name, keepsHeaderCase } = this.#options;
    joinLines(headers);
    exchange.recording.onHead(headers);
    const isUnreadable = hasUnknownCoding(headers);
    handlers.cleanResponse(headers);
    exchange.v4Status = status;
    exchange.learn(status, headers);
    if (isUnreadable) return this.#replace(`${name} used a transfer coding that nobody asked for`);
    if (status < 200 || status > 599) return this.#replace(`${name} responded with the status ${status}`);
    if (handlers.hasOwnCors) removeCorsHeaders(headers);
    addVary(headers, handlers.vary);
    if (status === 204) delete headers["content-length"];
    response.statusCode = status;
    const ownPhrase = ownBytes(phrase);
    if (SENDABLE_PHRASE.test(ownPhrase)) response.statusMessage = ownPhrase;
    this.#setHeaders(headers, keepsHeaderCase ? ownNames(controller) : undefined);
    // Such a response ends at its head, whatever follows (RFC 9112 6.3).
    if (status === 204 || status === 304 || request.method === "HEAD") this.#end();
  }

  #setHeaders(headers: IncomingHttpHeaders, names: ReadonlyMap<string, string> | undefined): void {
    const { request, response } = this.#exchange;
    const all = forNode(headers);
    for (const name in all) {
      const value = all[name];
      if (value === undefined) continue;
      try {
        response.setHeader(names?.get(name) ?? name, value);
      } catch {
        // A header that no server may send.
      }
    }
    // As the client asked, and without what Node would add about the connection. HTTP/1.0 has no chunks: the end is the framing.
    const isKept = response.shouldKeepAlive && request.httpVersion !== "1.0";
    response.setHeader("connection", isKept ? "keep-alive" : "close");
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const exchange = this.#exchange;
    if (this.#isDone) return;
    exchange.bytesOut += chunk.length;
    exchange.recording.onReceived(chunk);
    if (exchange.response.write(chunk)) return;
    controller.pause();
    exchange.response.once("drain", () => controller.resume());
  }

  onResponseEnd(): void {
    this.#end();
  }

  #end(): void {
    if (this.#isDone) return;
    this.#isDone = true;
    this.#exchange.isComplete = true;
    this.#exchange.response.end();
  }

  /** Responds with an error in place of a response that no client may get. */
  #replace(fault: string): void {
    this.#exchange.fault = fault;
    this.#isDone = true;
    this.#exchange.fail();
    this.#controller?.abort(new UpstreamError("truncated", fault));
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#options.pool.replaceAfter(error);
    this.#fail(error);
  }

  /** Sends the request once more, or responds to an error of the connection. */
  #fail(error: Error): void {
    if (this.#isDone) return;
    const exchange = this.#exchange;
    if (exchange.v4Status !== null) {
      this.#isDone = true;
      exchange.fault ??= `${this.#options.name} broke its response off: ${error.message}`;
      return exchange.fail();
    }
    if (this.#isSentAgain(error)) {
      this.#isResent = true;
      this.#controller = undefined;
      // Once undici is done with the connection, which it can open again.
      return void setImmediate(() => !this.#isDone && this.send());
    }
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#endWithError(error);
  }

  /** Whether a request is sent once more: v4 closed the idle connection at the moment when it was used again. */
  #isSentAgain(error: Error): boolean {
    return (
      !this.#isResent &&
      IDEMPOTENT.has(this.#exchange.request.method ?? "") &&
      !this.#hasBody &&
      !this.#abortReason &&
      wasClosedWhileIdle(error)
    );
  }

  /**
   * Responds to an error before v4's head. A connection that breaks while the client is still sending may be the client's doing:
   * otherwise a client could open the circuit for others.
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
    exchange.reject(exchange.handlers.errors.failed);
  }
}

/** Creates the proxy that streams. */
export const createStreamingProxy =
  (options: StreamingProxyOptions): StreamingProxy =>
  (exchange) =>
    new StreamedForwarding(exchange, options).send();
