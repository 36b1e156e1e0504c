/** One forwarded request, the facts that the gateway finds out about it, and the policy for requests of its lane. */
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { addressNetworks, CLIENT_GONE } from "../../base/index.ts";
import type { CircuitBreaker } from "../upstream/circuit-breaker.ts";
import { type AttemptOutcome, causedBy, outcomeOfStatus } from "../upstream/upstream-error.ts";
import { isServed } from "../auth/known-senders.ts";
import { closeBeforeRest, endResponse } from "../bodies/unread-rest.ts";
import type { ForwardedStream } from "../bodies/slow-streams.ts";
import { type AlphaRequest, header } from "../request/request.ts";
import { BodyStart } from "../record/body-start.ts";
import { type ForwardedExchange, roundMs } from "../record/recorded-exchange.ts";
import type { ForwardError, ForwardErrors } from "./forward-errors.ts";

/** One forwarded request. */
export class Exchange implements ForwardedStream {
  readonly policy: ForwardPolicy;
  readonly plain: AlphaRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly observer: ForwardObserver | undefined;
  readonly hash: string | undefined;
  /** The client whose share includes the connection to the upstream. */
  client: ForwardedStream["client"];
  /** Releases the connection to the upstream. */
  release: (() => void) | undefined;
  /** Ends the request to the upstream, if it is still in progress. */
  cancel: (() => void) | undefined;
  bytesIn = 0;
  bytesOut = 0;
  /** The start of each body, up to the length that a record or an observer needs. */
  sent: BodyStart | undefined;
  received: BodyStart | undefined;
  readonly guarded: ForwardedStream["guarded"] = { bytesBefore: undefined, timesAwaited: 0 };
  /** The reason why the response is not, or not completely, the upstream's. */
  fault: string | undefined;
  /** Whether the upstream has accepted the token, in this request or before. */
  isAccepted = false;
  /** Whether the upstream or the gateway has failed. The response is then an error of the gateway. */
  hasFailed = false;
  /** The reason why the gateway rejected the request, for rejections that are counted. */
  rejectedBy: ForwardedExchange["rejectedBy"];
  /** Status of the upstream's response. Null if missing yet, undefined if the upstream was not called. */
  upstreamStatus: number | null | undefined;
  /** The known facts about the client's token, if the gateway judges tokens in this lane. */
  token: JudgedToken | undefined;
  /** Whether the upstream receives a different token than the client's, because the gateway issued the client's token. */
  isReplaced = false;
  /** The application to which the gateway has issued the client's token. */
  application: string | undefined;
  /** Whether the upstream's whole response has arrived. Later bytes do not belong to this request. */
  isComplete = false;
  /** Headers that the gateway adds to the response. */
  readonly #ownHeaders: OutgoingHttpHeaders;
  readonly #breaker: CircuitBreaker;
  readonly #keptBytes: number;
  #recorded: Promise<void> | undefined;
  #hasOutcome = false;

  constructor(
    policy: ForwardPolicy,
    plain: AlphaRequest,
    [request, response]: readonly [IncomingMessage, ServerResponse],
    breaker: CircuitBreaker,
    observer: ForwardObserver | undefined,
  ) {
    this.policy = policy;
    this.plain = plain;
    this.request = request;
    this.response = response;
    this.observer = observer;
    this.#breaker = breaker;
    this.hash = policy.hashOf(plain);
    this.#keptBytes = Math.max(policy.keptBytes(plain), observer?.bodyLimit ?? 0);
    this.#ownHeaders = response.getHeaders();
  }

  /** Headers of a response that requests a retry from the client. */
  get retryAfter(): Readonly<Record<string, string>> {
    return { "retry-after": String(Math.ceil(this.#breaker.openMs / 1000)) };
  }

  /** Returns the client, for its share of the connections. */
  shareClient(): NonNullable<ForwardedStream["client"]> {
    const { hash: token, plain, policy, observer } = this;
    const isKnown = observer ? observer.isKnown() : policy.isKnown(this);
    return { token, networks: addressNetworks(plain.address), isKnown };
  }

  /** Records a part of the client's body. */
  onSent(chunk: Buffer): void {
    this.bytesIn += chunk.length;
    if (this.policy.lane === "native") return;
    this.sent ??= new BodyStart(bodyHeadersOf(this.plain), this.#keptBytes);
    this.sent.add(chunk);
    if (!this.received) this.observer?.onSent();
  }

  /** Processes the head of the upstream's response: what it shows about the token, and about the upstream. */
  onHead(status: number, headers: IncomingHttpHeaders): void {
    this.received = new BodyStart(headers, this.#keptBytes);
    this.observer?.onHead();
    this.upstreamStatus = status;
    // A service whose tokens are not judged may respond with any status, as before the gateway.
    if (!this.token) return this.reportOutcome("succeeded");
    if (!this.isReplaced && this.token.onResponse(status, headers)) this.isAccepted = true;
    this.reportOutcome(outcomeOfStatus(status, this.isAccepted));
  }

  /** Records a part of the upstream's body. */
  onReceived(chunk: Buffer): void {
    this.bytesOut += chunk.length;
    this.received?.add(chunk);
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
   * Responds with an error of the gateway, without the upstream's headers. If a part of a response was already sent,
   * the connection is closed, so that the client detects the incomplete response.
   */
  reject(error: ForwardError): void {
    if (this.response.writableEnded) return;
    const body = this.#setError(error);
    if (body !== undefined) this.end(body);
  }

  /** Sets the head of an error. @returns its body. Undefined if the connection had to be closed */
  #setError({ status, body, headers }: ForwardError): string | undefined {
    const { request, response } = this;
    if (response.headersSent) return void response.destroy();
    for (const name of response.getHeaderNames()) response.removeHeader(name);
    // `writeHead` is not called, so that a different error can replace this one if its record can't be written.
    const own = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    for (const [name, value = ""] of Object.entries({ ...this.#ownHeaders, ...own, ...headers }))
      response.setHeader(name, value);
    closeBeforeRest(request, response, false);
    response.statusCode = status;
    response.statusMessage = STATUS_CODES[status] ?? "";
    return body;
  }

  /** Reports the outcome to the circuit breaker. Only the first call has an effect. @param error the reason of the failure */
  reportOutcome(outcome: AttemptOutcome, error?: unknown): void {
    if (!this.#hasOutcome) this.#breaker.record(outcome, causedBy(error, this.client));
    this.#hasOutcome = true;
  }

  /** Responds with an error of the gateway, because the upstream or the gateway has failed. */
  fail(reason: keyof ForwardErrors = "failed", headers: Readonly<Record<string, string>> = {}): void {
    this.hasFailed = true;
    // A client that disconnects must not be able to send invented tokens without a limit.
    if (!this.response.destroyed) this.token?.onFailure();
    this.reject({ ...this.policy.errors[reason], headers });
  }

  /** Responds to a request above a limit of the gateway. */
  rejectLimited(reason: string, headers: Readonly<Record<string, string>>): void {
    this.fault = reason;
    this.rejectedBy = "limit";
    this.reject({ ...this.policy.errors.limited, headers });
  }

  /** Ends the exchange, so that another client can use its connection. */
  abort(reason: string): void {
    this.fault ??= reason;
    this.reportOutcome("ignored");
    // The connection is released now instead of when the response is closed, because the guard ends at most one stream
    // for each waiting client.
    this.release?.();
    this.response.destroy();
  }

  /** Records the request once. @throws if the record can't be written */
  record(isAborted = false): Promise<void> {
    if (this.#recorded) return this.#recorded;
    const recorded = this.#describe(isAborted);
    this.observer?.onEnd(recorded);
    return (this.#recorded = this.policy.record(recorded));
  }

  #describe(isAborted: boolean): ForwardedExchange {
    const { policy, plain, hash, application, isAccepted, fault, upstreamStatus } = this;
    const { isComplete, bytesIn, bytesOut, sent, received } = this;
    const ms = performance.now() - plain.startedAt;
    const wasCalled = upstreamStatus !== undefined;
    const hasServed = isServed(upstreamStatus ?? 0);
    return {
      lane: policy.lane,
      request: plain,
      hash,
      application: application === undefined ? undefined : { id: application, isProven: true },
      isAccepted,
      isTrusted: isAccepted || (policy.lane === "legacy" && hasServed),
      isServed: hasServed,
      route: null,
      // The client disconnected, unless the response ended early for a different reason.
      status: isAborted && fault === undefined ? CLIENT_GONE : this.response.statusCode,
      hasFailed: this.hasFailed && !isAborted,
      rejectedBy: this.rejectedBy,
      calls: wasCalled && policy.lane === "native" ? [{ status: upstreamStatus, ms: roundMs(ms) }] : [],
      losses: NO_LOSSES,
      warnings: [
        ...(fault === undefined ? [] : [`${FAULT_OF[policy.lane]}: ${fault}`]),
        ...(isAborted ? ["the response broke off"] : []),
      ],
      timings: { total: roundMs(ms), upstream: wasCalled ? roundMs(ms) : 0, translation: 0 },
      beganAt: Math.floor(Date.now() - ms),
      traceparent: header(plain, "traceparent"),
      forwarded: { upstreamStatus, isComplete, bytesIn, bytesOut, sent, received },
    };
  }
}

const NO_LOSSES: ReadonlySet<string> = new Set();

/** How the warning about a fault begins. */
const FAULT_OF: Readonly<Record<ForwardPolicy["lane"], string>> = {
  native: "native proxy",
  legacy: "old service",
};

const bodyHeadersOf = (plain: AlphaRequest): IncomingHttpHeaders => ({
  "content-type": header(plain, "content-type"),
  "content-encoding": header(plain, "content-encoding"),
});

/** The token of a request, in a lane where the gateway judges tokens. */
export interface JudgedToken {
  /** Called if the upstream failed, or could not be called. Not called for failures that the client caused. */
  onFailure(): void;
  /** Called after the upstream responded to the client's own token. @returns whether it has accepted the token */
  onResponse(status: number, headers: IncomingHttpHeaders): boolean;
}

/** Observes one exchange without delaying it. */
export interface ForwardObserver {
  /** Whether the sender's token is known. All unknown senders share half of the connections. */
  readonly isKnown: () => boolean;
  /** Maximum number of bytes that are kept of each body. Files are not kept. */
  readonly bodyLimit: number;
  /** Called when the head of the request is sent, and with each part of its body until the response starts. */
  readonly onSent: () => void;
  /** Called when the head of the response has arrived. */
  readonly onHead: () => void;
  /** Called once, when the response is complete or has ended early. It must not throw. */
  readonly onEnd: (exchange: ForwardedExchange) => void;
}

/** The differences between the lanes: parts of the active pack and of the gateway. */
export interface ForwardPolicy {
  readonly lane: "native" | "legacy";
  readonly errors: ForwardErrors;
  /** Decides whether a request may use the upstream. Otherwise, it sends the rejection itself. */
  readonly admit: (exchange: Exchange) => boolean | Promise<boolean>;
  /** Whether the upstream has accepted the token. */
  readonly isKnown: (exchange: Exchange) => boolean;
  /** Removes the headers of a request that must not be sent to the upstream. */
  readonly prepareRequest: (request: IncomingMessage) => void;
  /** Removes the headers of a response that must not be sent to clients. */
  readonly cleanResponse: (headers: IncomingHttpHeaders) => void;
  /** Whether browsers receive the gateway's CORS headers instead of the upstream's. */
  readonly hasOwnCors: boolean;
  /** Request headers on which a response depends, for caches. */
  readonly vary: readonly string[];
  /** Returns the hash of the client's token; undefined if there is no token. */
  readonly hashOf: (plain: AlphaRequest) => string | undefined;
  /** Returns the number of bytes of each body that the record needs. */
  readonly keptBytes: (plain: AlphaRequest) => number;
  /** Writes the record. @throws if it can't be written */
  readonly record: (exchange: ForwardedExchange) => Promise<void>;
  /** Whether a response ends only after its record is durable. */
  readonly recordFirst: boolean;
}
