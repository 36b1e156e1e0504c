/** One forwarded request on its way, what the gateway learns about it, and the policy for requests of its kind. */
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

/** A request on its way to the upstream. */
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
  guarded: ForwardedStream["guarded"];
  /** The client whose share its connection to the upstream counts against. */
  client: ForwardedStream["client"];
  /** Releases its connection to the upstream. */
  release: (() => void) | undefined;
  /** Why the response is not the upstream's, or not all of it. */
  fault: string | undefined;
  /** Whether the upstream has accepted the token, in this request or before. */
  isAccepted = false;
  /** Whether the gateway or the upstream has failed, so that the response is the gateway's own error. */
  hasFailed = false;
  /** Why the gateway itself rejected the request, where such rejections are counted. */
  rejectedBy: ForwardOutcome["rejectedBy"];
  /** Status of the upstream's response; null while there is none, undefined where the upstream was not called. */
  upstreamStatus: number | null | undefined;
  /** The known facts about the client's token; undefined while it is looked up. */
  tokenInfo: NativeToken | undefined;
  /** Whether the upstream gets another token in place of the client's: the gateway has issued this one. */
  isReplaced = false;
  /** The application that the gateway has issued the client's token to. */
  application: string | undefined;
  /** Its request to the upstream. */
  forwarding: Forwarding | undefined;
  /** Whether all of the upstream's response has come. What follows it belongs to nobody. */
  isComplete = false;
  /** Headers of the response that are the gateway's. */
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

  /** Ends the response, once its record is durable where that is asked for. @param rest what is still to be sent */
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
   * Responds with an error of the gateway, and with none of the upstream's headers. Where a part of a response was sent, the
   * response breaks off, so that the client sees that it is incomplete.
   */
  reject(error: ForwardError): void {
    if (this.response.writableEnded) return;
    const body = this.#setError(error);
    if (body !== undefined) this.end(body);
  }

  /** Sets the head of an error. @returns its body; undefined where the response had to break off */
  #setError({ status, body, headers }: ForwardError): string | undefined {
    const { request, response } = this;
    if (response.headersSent) return void response.destroy();
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    // Without `writeHead`: where the record of this response cannot be written, another error takes its place.
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

  /** Reports the outcome of the attempt to the circuit breaker. Only the first call counts. @param error Why it failed. */
  reportOutcome(outcome: AttemptOutcome, error?: unknown): void {
    if (!this.#hasOutcome) this.#breaker.record(outcome, causedBy(error, this.client));
    this.#hasOutcome = true;
  }

  /** Learns from the upstream's response what it says about the token, and about the upstream. */
  learn(status: number, headers: IncomingHttpHeaders): void {
    // An upstream without a gate may respond with any status: its clients got all of them before.
    if (!this.policy.gate) return this.reportOutcome("succeeded");
    if (!this.isReplaced && this.tokenInfo?.onResponse(status, headers)) this.isAccepted = true;
    this.reportOutcome(outcomeOfStatus(status, this.isAccepted));
  }

  /** Responds with an error of the gateway, because the upstream has failed or the gateway has. */
  fail(reason: keyof ForwardErrors = "failed", headers: Readonly<Record<string, string>> = {}): void {
    this.hasFailed = true;
    // A client that disconnects must not be able to send made-up tokens without a limit.
    if (!this.response.destroyed) this.tokenInfo?.onFailure();
    this.reject({ ...this.policy.errors[reason], headers });
  }

  /** Breaks the response off. @param fault why */
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
    // Now, not when the response is closed: the guard ends no more streams than there are who wait.
    this.release?.();
    this.response.destroy();
  }

  /** Records the request, once. @throws where the record cannot be written */
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

/** Decides who may use the upstream. */
export interface ForwardGate {
  /** The upstream's scheme, for a token that replaces the client's. */
  readonly scheme: string;
  readonly lookUp: LookUpNativeToken;
  readonly authorize: AuthorizeNative;
  /** JSON body of an error with this reason and this status. */
  readonly errorBody: (reason: string, status: number) => string;
}

/** The parts of the active pack and of the gateway that the forward needs. */
export interface ForwardPolicy {
  readonly errors: ForwardErrors;
  /** Undefined: the upstream decides about all requests, as if there were no gateway. */
  readonly gate?: ForwardGate;
  /** Whether the upstream has accepted the token before, where there is no gate. */
  readonly isKnown?: (hash: string) => boolean;
  /** The error for a request that can't be forwarded, and why; undefined for all others. */
  readonly refuse?: (request: IncomingMessage) => (ForwardError & { readonly fault: string }) | undefined;
  /** Removes from the headers of a request what the upstream must not get. */
  readonly prepareRequest: (request: IncomingMessage) => void;
  /** Removes from the headers of a response what clients must not get. */
  readonly cleanResponse: (headers: IncomingHttpHeaders) => void;
  /** Whether browsers get the gateway's CORS headers, and none of the upstream's. */
  readonly hasOwnCors: boolean;
  /** Request headers that a response depends on, for caches: the scheme of the credentials decides between the dialects. */
  readonly vary: readonly string[];
  /** The hash of the client's token; undefined without one. */
  readonly hashOf: (plain: AlphaRequest, token: string) => string | undefined;
  readonly startRecording: (plain: AlphaRequest, hash: string | undefined) => ForwardRecording;
  /** Whether a response ends only after its record is durable. */
  readonly recordFirst: boolean;
}
