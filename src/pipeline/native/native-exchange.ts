/** One request of v4's own clients on its way, and what the gateway learns about it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { CLIENT_GONE } from "../../audit/record.ts";
import { tokenHash } from "../../auth/token-cache.ts";
import type { AttemptOutcome, CircuitBreaker } from "../../upstream/circuit-breaker.ts";
import { outcomeOfStatus } from "../../upstream/upstream-error.ts";
import { header, type AlphaRequest } from "../context.ts";
import { roundMs } from "../recorded-request.ts";
import type { AuthorizeNative } from "./native-authorization.ts";
import type { LookUpNativeToken, NativeToken } from "./native-rate-limit.ts";
import type { NativeOutcome } from "./native-record.ts";
import type { NativeStream } from "./slow-streams.ts";

/** What the proxy needs of the active pack and of the gateway around it. */
export interface NativeHandlers {
  /** JSON body of a 500. */
  readonly failure: string;
  /** JSON body of the 503 while the circuit is open, and while all connections are in use. */
  readonly circuitOpen: string;
  /** Status and JSON body for a client with too many requests. */
  readonly limited: { readonly status: number; readonly body: string };
  /** JSON body of an error with this reason. */
  readonly errorBody: (reason: string) => string;
  /** v4's scheme, for a token that replaces the client's. */
  readonly scheme: string;
  readonly lookUp: LookUpNativeToken;
  readonly authorize: AuthorizeNative;
  /** Request headers that a response depends on, for caches: the scheme of the credentials decides between the dialects. */
  readonly vary: readonly string[];
  /** Records a request. @throws where the record cannot be written */
  readonly record: (plain: AlphaRequest, outcome: NativeOutcome, hash: string | undefined) => Promise<void>;
  /** Whether a response ends only after its record is durable. */
  readonly recordFirst: boolean;
}

/** Responds with an error of the gateway, or breaks off a response that has started. */
export function sendError(
  response: ServerResponse | Socket,
  body: string,
  status = 500,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (!("writeHead" in response)) return void response.destroy();
  if (response.writableEnded) return;
  // A response that has started can only be broken off, so that the client sees that it is incomplete.
  if (response.headersSent) return void response.destroy();
  const length = String(Buffer.byteLength(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": length, ...headers });
  response.end(body);
}

/** One forwarded request. */
export class Exchange implements NativeStream {
  readonly handlers: NativeHandlers;
  readonly plain: AlphaRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly token: string;
  readonly hash: string;
  bytesIn = 0;
  bytesOut = 0;
  guarded: NativeStream["guarded"];
  /** Releases its connection to v4. */
  release: (() => void) | undefined;
  /** Why the response is not v4's, or not all of it. */
  fault: string | undefined;
  /** Whether v4 has accepted the token, in this request or before. */
  isAccepted = false;
  /** Whether the gateway or v4 has failed, so that the response is the gateway's own error. */
  hasFailed = false;
  /** Why the gateway itself rejected the request, where such rejections are counted. */
  rejectedBy: NativeOutcome["rejectedBy"];
  /** Status of v4's response; null while there is none, undefined where v4 was not called. */
  v4Status: number | null | undefined;
  /** What is known about the client's token; undefined while it is looked up. */
  tokenInfo: NativeToken | undefined;
  /** Whether v4 gets another token in place of the client's: the gateway has issued this one. */
  isReplaced = false;
  readonly #breaker: CircuitBreaker;
  readonly #startedAt = performance.now();
  #recorded: Promise<void> | undefined;
  #hasOutcome = false;

  constructor(
    handlers: NativeHandlers,
    plain: AlphaRequest,
    [request, response]: readonly [IncomingMessage, ServerResponse],
    breaker: CircuitBreaker,
  ) {
    this.handlers = handlers;
    this.plain = plain;
    this.request = request;
    this.response = response;
    this.#breaker = breaker;
    this.token = (header(plain, "authorization") ?? "").trim().replace(/^\S+ +/, "");
    this.hash = tokenHash(this.token);
  }

  /** Reports the outcome of the attempt to the circuit breaker. Only the first call counts. */
  reportOutcome(outcome: AttemptOutcome): void {
    if (!this.#hasOutcome) this.#breaker.record(outcome);
    this.#hasOutcome = true;
  }

  /** Learns from v4's response what it says about the token, and about v4. */
  learn(status: number, headers: IncomingMessage["headers"]): void {
    if (!this.isReplaced && this.tokenInfo?.onResponse(status, headers)) this.isAccepted = true;
    this.reportOutcome(outcomeOfStatus(status, this.isAccepted));
  }

  /** Responds with an error of the gateway, because v4 has failed or the gateway has. */
  fail(body = this.handlers.failure, status = 500, headers: Readonly<Record<string, string>> = {}): void {
    this.hasFailed = true;
    // A client that disconnects must not be able to send made-up tokens without a limit.
    if (!this.response.destroyed) this.tokenInfo?.onFailure();
    sendError(this.response, body, status, headers);
  }

  /** Responds to a request above a limit of the gateway. */
  rejectLimited(reason: string, headers: Readonly<Record<string, string>>): void {
    this.fault = reason;
    this.rejectedBy = "limit";
    const { limited } = this.handlers;
    sendError(this.response, limited.body, limited.status, headers);
  }

  abort(reason: string): void {
    this.fault ??= reason;
    this.reportOutcome("ignored");
    this.response.destroy();
  }

  /** Records the request, once. @throws where the record cannot be written */
  record(isAborted = false): Promise<void> {
    const { bytesIn, bytesOut, fault, v4Status, response, isAccepted, hasFailed, rejectedBy } = this;
    const warnings = [
      ...(fault === undefined ? [] : [`native proxy: ${fault}`]),
      ...(isAborted ? ["the response broke off"] : []),
    ];
    const ms = roundMs(performance.now() - this.#startedAt);
    // The client disconnected, unless something else broke the response off.
    const status = isAborted && fault === undefined ? CLIENT_GONE : response.statusCode;
    const outcome: NativeOutcome = {
      status,
      v4Status,
      isAccepted,
      hasFailed: hasFailed && !isAborted,
      rejectedBy,
      bytesIn,
      bytesOut,
      warnings,
      ms,
    };
    return (this.#recorded ??= this.handlers.record(this.plain, outcome, this.hash));
  }
}
