/** One request of v4's own clients on its way, and what the gateway learns about it. */
import { STATUS_CODES, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from "node:http";
import { CLIENT_GONE } from "../../base/index.ts";
import type { AttemptOutcome, CircuitBreaker } from "../upstream/circuit-breaker.ts";
import { causedBy, outcomeOfStatus } from "../upstream/upstream-error.ts";
import { header, type AlphaRequest } from "../pipeline/request.ts";
import { roundMs } from "../record/recorded-request.ts";
import type { AuthorizeNative } from "./native-authorization.ts";
import type { LookUpNativeToken, NativeToken } from "./native-rate-limit.ts";
import type { NativeOutcome } from "../record/native-record.ts";
import type { NativeStream } from "./slow-streams.ts";

/** An error of the gateway. */
export interface NativeError {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The errors of the gateway by what has happened. */
export interface NativeErrors {
  /** The upstream can't be reached or broke off, or the gateway failed. */
  readonly failed: NativeError;
  /** The upstream did not respond in time. */
  readonly timedOut: NativeError;
  /** The circuit is open, or all connections are in use. */
  readonly unavailable: NativeError;
  /** The client has too many requests. */
  readonly limited: NativeError;
}

/** Who may use the upstream. */
export interface NativeGate {
  /** The upstream's scheme, for a token that replaces the client's. */
  readonly scheme: string;
  readonly lookUp: LookUpNativeToken;
  readonly authorize: AuthorizeNative;
  /** JSON body of an error with this reason and this status. */
  readonly errorBody: (reason: string, status: number) => string;
}

/** What is noted of one exchange while it passes, and its record. */
export interface NativeRecording {
  /** A part of the client's body. */
  readonly onSent?: (chunk: Buffer) => void;
  /** The head of the response, as the upstream sent it. */
  readonly onHead: (headers: IncomingMessage["headers"]) => void;
  /** A part of its body. */
  readonly onReceived: (chunk: Buffer) => void;
  /** Records the exchange. @throws where the record cannot be written */
  readonly record: (outcome: NativeOutcome) => Promise<void>;
}

/** What the proxy needs of the active pack and of the gateway around it. */
export interface NativeHandlers {
  readonly errors: NativeErrors;
  /** Undefined: the upstream decides about all requests, as if there were no gateway. */
  readonly gate?: NativeGate;
  /** Whether the upstream has accepted the token before, where there is no gate. */
  readonly isKnown?: (hash: string) => boolean;
  /** The error for a request that can't be forwarded, and why; undefined for all others. */
  readonly refuse?: (request: IncomingMessage) => (NativeError & { readonly fault: string }) | undefined;
  /** Removes from the headers of a request what the upstream must not get. */
  readonly prepareRequest: (request: IncomingMessage) => void;
  /** Removes from the headers of a response what clients must not get. */
  readonly cleanResponse: (headers: IncomingMessage["headers"]) => void;
  /** Whether browsers get the gateway's CORS headers, and none of the upstream's. */
  readonly hasOwnCors: boolean;
  /** Request headers that a response depends on, for caches: the scheme of the credentials decides between the dialects. */
  readonly vary: readonly string[];
  /** The hash of the client's token; undefined without one. */
  readonly hashOf: (plain: AlphaRequest, token: string) => string | undefined;
  readonly startRecording: (plain: AlphaRequest, hash: string | undefined) => NativeRecording;
  /** Whether a response ends only after its record is durable. */
  readonly recordFirst: boolean;
}

/**
 * Responds with an error of the gateway, with nothing of v4's head. A response that has started can only be broken off, so
 * that the client sees that it is incomplete.
 *
 * @param own The headers that the response had before v4's head.
 */
function sendError(
  response: ServerResponse,
  own: OutgoingHttpHeaders,
  { status, body, headers }: NativeError,
): void {
  if (response.writableEnded) return;
  if (response.headersSent) return void response.destroy();
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  // Without `writeHead`: where the record of this response cannot be written, another error takes its place.
  const length = String(Buffer.byteLength(body));
  const all = { ...own, "content-type": "application/json", "content-length": length, ...headers };
  for (const [name, value = ""] of Object.entries(all)) response.setHeader(name, value);
  response.statusCode = status;
  response.statusMessage = STATUS_CODES[status] ?? "";
  response.end(body);
}

/** A request on its way to v4. */
export interface Forwarding {
  /** Ends it, unless it has ended. */
  cancel(): void;
}

/** One forwarded request. */
/** The token of a native request. */
export const nativeToken = (plain: AlphaRequest): string =>
  (header(plain, "authorization") ?? "").trim().replace(/^\S+ +/, "");

export class Exchange implements NativeStream {
  readonly handlers: NativeHandlers;
  readonly plain: AlphaRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly token: string;
  readonly hash: string | undefined;
  readonly recording: NativeRecording;
  bytesIn = 0;
  bytesOut = 0;
  guarded: NativeStream["guarded"];
  /** Whose share its connection to v4 counts against. */
  client: NativeStream["client"];
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
  /** The application that the gateway has issued the client's token to. */
  application: string | undefined;
  /** Its request to v4. */
  forwarding: Forwarding | undefined;
  /** Whether all of v4's response has come. What follows it belongs to nobody. */
  isComplete = false;
  /** Headers of the response that are the gateway's. */
  readonly #ownHeaders: OutgoingHttpHeaders;
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
    this.token = nativeToken(plain);
    this.hash = handlers.hashOf(plain, this.token);
    this.recording = handlers.startRecording(plain, this.hash);
    this.#ownHeaders = response.getHeaders();
  }

  /** Responds with an error that is the client's to solve. */
  reject(error: NativeError): void {
    sendError(this.response, this.#ownHeaders, error);
  }

  /** Reports the outcome of the attempt to the circuit breaker. Only the first call counts. @param error Why it failed. */
  reportOutcome(outcome: AttemptOutcome, error?: unknown): void {
    if (!this.#hasOutcome) this.#breaker.record(outcome, causedBy(error, this.hash));
    this.#hasOutcome = true;
  }

  /** Learns from v4's response what it says about the token, and about v4. */
  learn(status: number, headers: IncomingMessage["headers"]): void {
    // An upstream without a gate may respond with any status: its clients got all of them before.
    if (!this.handlers.gate) return this.reportOutcome("succeeded");
    if (!this.isReplaced && this.tokenInfo?.onResponse(status, headers)) this.isAccepted = true;
    this.reportOutcome(outcomeOfStatus(status, this.isAccepted));
  }

  /** Responds with an error of the gateway, because v4 has failed or the gateway has. */
  fail(reason: keyof NativeErrors = "failed", headers: Readonly<Record<string, string>> = {}): void {
    this.hasFailed = true;
    // A client that disconnects must not be able to send made-up tokens without a limit.
    if (!this.response.destroyed) this.tokenInfo?.onFailure();
    this.reject({ ...this.handlers.errors[reason], headers });
  }

  /** Responds to a request above a limit of the gateway. */
  rejectLimited(reason: string, headers: Readonly<Record<string, string>>): void {
    this.fault = reason;
    this.rejectedBy = "limit";
    this.reject({ ...this.handlers.errors.limited, headers });
  }

  abort(reason: string): void {
    this.fault ??= reason;
    this.reportOutcome("ignored");
    // Now, not when the response is closed: the guard ends no more streams than there are who wait.
    this.release?.();
    this.response.destroy();
  }

  /** Records the request, once. @throws where the record cannot be written */
  record(isAborted = false): Promise<void> {
    const { bytesIn, bytesOut, fault, v4Status, response, isAccepted, hasFailed, rejectedBy, application } =
      this;
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
      isComplete: this.isComplete,
      isAccepted,
      application,
      hasFailed: hasFailed && !isAborted,
      rejectedBy,
      bytesIn,
      bytesOut,
      warnings,
      ms,
    };
    return (this.#recorded ??= this.recording.record(outcome));
  }
}
