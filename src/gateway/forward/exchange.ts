/** One forwarded request on its way, and what the gateway learns about it. */
import {
  STATUS_CODES,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { CLIENT_GONE } from "../../base/index.ts";
import type { CircuitBreaker } from "../upstream/circuit-breaker.ts";
import { type AttemptOutcome, causedBy, outcomeOfStatus } from "../upstream/upstream-error.ts";
import { closeBeforeRest, endResponse } from "../bodies/unread-rest.ts";
import { header, type AlphaRequest } from "../pipeline/request.ts";
import { roundMs } from "../record/recorded-request.ts";
import type { ForwardOutcome, ForwardRecording } from "../record/forwarded-record.ts";
import type { NativeToken } from "./native-rate-limit.ts";
import type { ForwardError, ForwardErrors, ForwardPolicy } from "./policy.ts";
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
