/** One forwarded request, the facts that the gateway learns about it, and the policy for requests of its kind. */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { CLIENT_GONE } from "../../base/index.ts";
import type { CircuitBreaker } from "../upstream/circuit-breaker.ts";
import { type AttemptOutcome, causedBy, outcomeOfStatus } from "../upstream/upstream-error.ts";
import { closeBeforeRest, endResponse } from "../bodies/unread-rest.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import { roundMs } from "../record/recorded-request.ts";
import type { ForwardOutcome, ForwardRecording } from "../record/forwarded-record.ts";
import type { AuthorizeNative, LookUpNativeToken, NativeToken } from "./native-authorization.ts";
import type { ForwardedStream } from "../bodies/slow-streams.ts";

/** The token of a native request. */
export const nativeToken = (plain: AlphaRequest): string =>
  (header(plain, "authorization") ?? "").trim().replace(/^\S+ +/, "");

/** A request that was sent to the upstream. */
interface Forwarding {
  /** Ends it, unless it has ended. */
  cancel(): void;
}

/** One forwarded request. */
export class Exchange implements ForwardedStream {
  readonly policy: ForwardPolicy;
  readonly plain: AlphaRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly token: string;
  readonly hash: string | undefined;
  readonly recording: ForwardRecording;
  bytesIn = 0;
  bytesOut = 0;
  readonly guarded: ForwardedStream["guarded"] = { bytesBefore: undefined, timesAwaited: 0 };
  /** The client whose share includes its connection to the upstream. */
  client: ForwardedStream["client"];
  /** Releases its connection to the upstream. */
  release: (() => void) | undefined;
  /** Why the response is not, or not completely, the upstream's. */
  fault: string | undefined;
  /** Whether the upstream has accepted the token, in this request or before. */
  isAccepted = false;
  /** Whether the upstream or the gateway has failed. The response is then the gateway's own error. */
  hasFailed = false;
  /** Why the gateway rejected the request, for rejections that are counted. */
  rejectedBy: ForwardOutcome["rejectedBy"];
  /** Status of the upstream's response. Null if there is none yet, undefined if the upstream was not called. */
  upstreamStatus: number | null | undefined;
  /** The known facts about the client's token. Undefined while it is looked up. */
  tokenInfo: NativeToken | undefined;
  /** Whether the upstream gets another token than the client's, because the gateway has issued the client's token. */
  isReplaced = false;
  /** The application to which the gateway has issued the client's token. */
  application: string | undefined;
  /** Its request to the upstream. */
  forwarding: Forwarding | undefined;
  /** Whether the upstream's whole response has arrived. Bytes after it belong to no request. */
  isComplete = false;
  /** Headers that the gateway adds to the response. */
  readonly #ownHeaders: OutgoingHttpHeaders;
  readonly #breaker: CircuitBreaker;
  readonly #startedAt = performance.now();
  #recorded: Promise<void> | undefined;
  #hasOutcome = false;

  constructor(
    policy: ForwardPolicy,
    plain: AlphaRequest,
    [request, response]: readonly [IncomingMessage, ServerResponse],
    breaker: CircuitBreaker,
  ) {
    this.policy = policy;
    this.plain = plain;
    this.request = request;
    this.response = response;
    this.#breaker = breaker;
    this.token = nativeToken(plain);
    this.hash = policy.hashOf(plain, this.token);
    this.recording = policy.startRecording(plain, this.hash);
    this.#ownHeaders = response.getHeaders();
  }

  /** Ends the response, after its record is durable if that is configured. @param rest the unsent rest */
  end(rest: Buffer | string = ""): void {
    const { request, response, policy } = this;
    if (!policy.recordFirst) return endResponse(request, response, rest);
    this.record().then(
      () => endResponse(request, response, rest),
      () => {
        this.hasFailed = true;
        endResponse(request, response, this.#setError(policy.errors.failed));
      },
    );
  }

  /**
   * Responds with an error of the gateway, without the upstream's headers. If a part of a response was sent, the
   * connection breaks off, so that the client sees that the response is incomplete.
   */
  reject(error: ForwardError): void {
    if (this.response.writableEnded) return;
    const body = this.#setError(error);
    if (body !== undefined) this.end(body);
  }

  /** Sets the head of an error. @returns its body. Undefined if the response had to break off */
  #setError({ status, body, headers }: ForwardError): string | undefined {
    const { request, response } = this;
    if (response.headersSent) return void response.destroy();
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    // Without `writeHead`, so that another error can replace this one if its record can't be written.
    const length = String(Buffer.byteLength(body));
    const all = {
      ...this.#ownHeaders,
      "content-type": "application/json",
      "content-length": length,
      ...headers,
    };
    for (const [name, value = ""] of Object.entries(all)) response.setHeader(name, value);
    closeBeforeRest(request, response, false);
    response.statusCode = status;
    response.statusMessage = STATUS_CODES[status] ?? "";
    return body;
  }

  /** Reports the outcome to the circuit breaker. Only the first call counts. @param error Why it failed. */
  reportOutcome(outcome: AttemptOutcome, error?: unknown): void {
    if (!this.#hasOutcome) this.#breaker.record(outcome, causedBy(error, this.client));
    this.#hasOutcome = true;
  }

  /** Evaluates the upstream's response: the token's acceptance, and the health of the upstream. */
  learn(status: number, headers: IncomingHttpHeaders): void {
    // An upstream without a gate may respond with any status, as before the gateway.
    if (!this.policy.gate) return this.reportOutcome("succeeded");
    if (!this.isReplaced && this.tokenInfo?.onResponse(status, headers)) this.isAccepted = true;
    this.reportOutcome(outcomeOfStatus(status, this.isAccepted));
  }

  /** Responds with an error of the gateway, because the upstream or the gateway has failed. */
  fail(reason: keyof ForwardErrors = "failed", headers: Readonly<Record<string, string>> = {}): void {
    this.hasFailed = true;
    // A client that disconnects must not be able to send invented tokens without a limit.
    if (!this.response.destroyed) this.tokenInfo?.onFailure();
    this.reject({ ...this.policy.errors[reason], headers });
  }

  /** Breaks the response off. @param fault the reason */
  breakOff(fault: string): void {
    this.fault ??= fault;
    this.response.destroy();
  }

  /** Responds to a request above a limit of the gateway. */
  rejectLimited(reason: string, headers: Readonly<Record<string, string>>): void {
    this.fault = reason;
    this.rejectedBy = "limit";
    this.reject({ ...this.policy.errors.limited, headers });
  }

  abort(reason: string): void {
    this.fault ??= reason;
    this.reportOutcome("ignored");
    // Now, and not when the response is closed, because the guard ends at most as many streams as clients wait.
    this.release?.();
    this.response.destroy();
  }

  /** Records the request, once. @throws if the record can't be written */
  record(isAborted = false): Promise<void> {
    const { bytesIn, bytesOut, fault, upstreamStatus, isComplete, isAccepted, rejectedBy, application } =
      this;
    const warnings = [
      ...(fault === undefined ? [] : [`native proxy: ${fault}`]),
      ...(isAborted ? ["the response broke off"] : []),
    ];
    const outcome: ForwardOutcome = {
      // The client disconnected, unless something else broke the response off.
      status: isAborted && fault === undefined ? CLIENT_GONE : this.response.statusCode,
      upstreamStatus,
      isComplete,
      isAccepted,
      application,
      hasFailed: this.hasFailed && !isAborted,
      rejectedBy,
      bytesIn,
      bytesOut,
      warnings,
      ms: roundMs(performance.now() - this.#startedAt),
    };
    return (this.#recorded ??= this.recording.record(outcome));
  }
}

/** An error of the gateway. */
export interface ForwardError {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The errors of the gateway by event. */
export interface ForwardErrors {
  /** The upstream can't be reached or broke off, or the gateway failed. */
  readonly failed: ForwardError;
  /** The upstream did not respond in time. */
  readonly timedOut: ForwardError;
  /** The circuit is open, or all connections are in use. */
  readonly unavailable: ForwardError;
  /** The client has too many requests. */
  readonly limited: ForwardError;
}

/** Decides which requests may use the upstream. */
export interface ForwardGate {
  /** The upstream's scheme, for a token that replaces the client's. */
  readonly scheme: string;
  readonly lookUp: LookUpNativeToken;
  readonly authorize: AuthorizeNative;
  /** JSON body of an error with this reason and status. */
  readonly errorBody: (reason: string, status: number) => string;
}

/** The parts of the active pack and of the gateway that the forward needs. */
export interface ForwardPolicy {
  readonly errors: ForwardErrors;
  /** Undefined: the upstream decides about all requests. */
  readonly gate?: ForwardGate;
  /** Whether the upstream has accepted the token before, if there is no gate. */
  readonly isKnown?: (hash: string) => boolean;
  /** The error for a request that can't be forwarded, and its reason. Undefined for all others. */
  readonly refuse?: (request: IncomingMessage) => (ForwardError & { readonly fault: string }) | undefined;
  /** Removes the headers of a request that the upstream must not get. */
  readonly prepareRequest: (request: IncomingMessage) => void;
  /** Removes the headers of a response that clients must not get. */
  readonly cleanResponse: (headers: IncomingHttpHeaders) => void;
  /** Whether browsers get the gateway's CORS headers instead of the upstream's. */
  readonly hasOwnCors: boolean;
  /** Request headers on which a response depends, for caches. The scheme of the credentials selects the dialect. */
  readonly vary: readonly string[];
  /** The hash of the client's token; undefined without one. */
  readonly hashOf: (plain: AlphaRequest, token: string) => string | undefined;
  readonly startRecording: (plain: AlphaRequest, hash: string | undefined) => ForwardRecording;
  /** Whether a response ends only after its record is durable. */
  readonly recordFirst: boolean;
}
