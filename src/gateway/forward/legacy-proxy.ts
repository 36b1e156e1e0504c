/**
 * The legacy proxy: passes requests of the old API to the old service without changes, streamed both ways. It is the
 * native proxy with another upstream, and makes no decisions.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { tokenHash } from "../auth/token-cache.ts";
import { findUsualToken, type Pack } from "../../pack/index.ts";
import type { AlphaRequest } from "../request/request.ts";
import { restoreTarget } from "../http/request-context.ts";
import { bodyHeadersOf, BodyStart } from "../record/body-start.ts";
import { cleanLegacyRequestHeaders, cleanLegacyResponseHeaders } from "../http/forwarded-headers.ts";
import type { Forward } from "./forward.ts";
import type { ForwardError, ForwardPolicy } from "./exchange.ts";
import type { ForwardOutcome, ForwardRecording } from "../record/forwarded-record.ts";

/** The exchange with the old service, once the response to the client has ended. */
export interface LegacyExchange {
  /** The hash of the client's token; undefined without one. */
  readonly hash: string | undefined;
  /** The start of the request's body. Undefined if nothing of it was sent. */
  readonly sent: BodyStart | undefined;
  /** The response of the old service. Undefined without one. It includes all headers. */
  readonly answer:
    | { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: BodyStart }
    | undefined;
  readonly outcome: ForwardOutcome;
}

/** Observes the exchange without delaying it. */
export interface LegacyObserver {
  /** Whether the sender's token is known. Other senders share half of the connections. */
  readonly isKnown: () => boolean;
  /** Bytes of each body that are kept, as they were sent. Files and markup are not kept. */
  readonly bodyLimit: number;
  /** Called when the head of the request is sent, and with each part of its body until the response begins. */
  readonly onSent: () => void;
  /** Called when the head of the response has arrived. */
  readonly onHead: () => void;
  /** Called once, when the response has ended or broken off. It must not throw. */
  readonly onEnd: (exchange: LegacyExchange) => void;
}

/**
 * Passes one request to the old service, and records it. It always ends the response.
 *
 * @param plain describes the request as plain data
 */
export type ForwardLegacy = (
  request: IncomingMessage,
  response: ServerResponse,
  plain: AlphaRequest,
  observer?: LegacyObserver,
) => void;

export interface LegacyProxyOptions {
  /** For the shape of errors, and the place of tokens. */
  readonly pack: Pick<Pack, "errors" | "statuses" | "credentials">;
  /** Whether a request comes from a trusted proxy, which has added the client's address. */
  readonly isFromProxy: (request: IncomingMessage) => boolean;
  /** Whether browsers get the gateway's CORS headers instead of the old service's. */
  readonly hasOwnCors: boolean;
  /** Headers of requests on which a response depends. */
  readonly vary: readonly string[];
  /** Whether a response ends only after its record is durable. */
  readonly recordFirst: boolean;
  /** Bytes of each body that the record needs. */
  readonly bodyLimitOf: (plain: AlphaRequest) => number;
  /** Whether the old service has accepted a token, for requests without an observer. */
  readonly isKnown: (hash: string) => boolean;
  /** Writes the record. @throws if it can't be written */
  readonly record: (plain: AlphaRequest, exchange: LegacyExchange) => Promise<void>;
}

/** The hash of a client's token, read where the pack says, or where most APIs have it. */
function hashOf(
  plain: AlphaRequest,
  { credentials: { client } }: LegacyProxyOptions["pack"],
): string | undefined {
  const found = client?.read(plain);
  const token = found && "token" in found ? found.token : findUsualToken(plain);
  return token === undefined ? undefined : tokenHash(token);
}

/** Collects the bodies and the answer of one request. */
function startRecording(
  plain: AlphaRequest,
  hash: string | undefined,
  { bodyLimitOf, record }: LegacyProxyOptions,
  observer: LegacyObserver | undefined,
): ForwardRecording {
  const limit = Math.max(bodyLimitOf(plain), observer?.bodyLimit ?? 0);
  let sent: BodyStart | undefined;
  let received: BodyStart | undefined;
  return {
    onSent(chunk) {
      (sent ??= new BodyStart(bodyHeadersOf(plain), limit)).add(chunk);
      if (!received) observer?.onSent();
    },
    onHead(headers) {
      received = new BodyStart(headers, limit);
      observer?.onHead();
    },
    onReceived: (chunk) => received?.add(chunk),
    record(outcome) {
      const { upstreamStatus } = outcome;
      const answer = received &&
        typeof upstreamStatus === "number" && {
          status: upstreamStatus,
          headers: received.headers,
          body: received,
        };
      const exchange = { hash, sent, answer: answer || undefined, outcome };
      observer?.onEnd(exchange);
      return record(plain, exchange);
    },
  };
}

/** A protocol that the gateway does not speak. Others, such as `h2c`, are an offer that a server may ignore. */
const isWebSocket = ({ headers: { upgrade = "" } }: IncomingMessage): boolean =>
  /\bwebsocket\b/i.test(upgrade);

/** Creates the legacy proxy of a pack. @param proxy the proxy to the old service */
export function createLegacyProxy(proxy: Forward, options: LegacyProxyOptions): ForwardLegacy {
  const { pack, isFromProxy, hasOwnCors, vary, recordFirst, isKnown } = options;
  const errorOf = (reason: string, status: number): ForwardError => {
    const translated = pack.statuses.translate(status);
    return { status: translated, body: JSON.stringify(pack.errors.client.write([{ reason }], translated)) };
  };
  const refusalOf = (fault: string) => ({ ...errorOf(`${fault}.`, 501), fault });
  const noWebSocket = refusalOf("WebSocket connections are not passed on");
  const noPath = refusalOf("A target without a path is not passed on");
  const handlers: ForwardPolicy = {
    errors: {
      failed: errorOf("The service could not process this request.", 502),
      timedOut: errorOf("The service did not respond in time.", 504),
      unavailable: errorOf("The service does not respond at the moment. Try again later.", 503),
      limited: errorOf("Too many requests at the same time. Try again later.", 429),
    },
    refuse(request) {
      if (isWebSocket(request)) return noWebSocket;
      // `*` can't be forwarded, and a target with a host would address another host.
      return request.url?.startsWith("/") ? undefined : noPath;
    },
    prepareRequest(request) {
      const address = isFromProxy(request) ? undefined : request.socket.remoteAddress;
      cleanLegacyRequestHeaders(request.headers, address);
    },
    cleanResponse: cleanLegacyResponseHeaders,
    hashOf: (plain) => hashOf(plain, pack),
    isKnown,
    vary,
    hasOwnCors,
    recordFirst,
    startRecording: (plain, hash) => startRecording(plain, hash, options, undefined),
  };
  const forward = proxy(handlers);
  return function forwardLegacy(request, response, plain, observer) {
    restoreTarget(request);
    if (!observer) return forward(request, response, plain);
    const observed: ForwardPolicy = {
      ...handlers,
      isKnown: observer.isKnown,
      prepareRequest(sent) {
        handlers.prepareRequest(sent);
        observer.onSent();
      },
      startRecording: (_plain, hash) => startRecording(plain, hash, options, observer),
    };
    proxy(observed)(request, response, plain);
  };
}
