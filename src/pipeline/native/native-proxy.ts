import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createProxyMiddleware } from "http-proxy-middleware";
import { CLIENT_GONE } from "../../audit/record.ts";
import type { CircuitBreaker, AttemptOutcome } from "../../upstream/circuit-breaker.ts";
import { outcomeOfError, outcomeOfStatus, toUpstreamError } from "../../upstream/upstream-error.ts";
import { tokenHash } from "../../auth/token-hash.ts";
import { addressNetwork } from "../../rate-limit/client-address.ts";
import {
  createConnectionShares,
  ConnectionUnavailableError,
  type ConnectionShares,
} from "../../upstream/connection-shares.ts";
import { header, type AlphaRequest } from "../context.ts";
import { delayResponseEnd } from "../http/delay-response-end.ts";
import type { NativeEntry } from "./native-authorization.ts";
import type { LookUpNativeToken } from "./native-rate-limit.ts";
import type { NativeOutcome } from "../stages/audit-record.ts";

/** Forwards a request of the native proxy. `asked` describes it as plain data, for the audit. */
export type ForwardNative = (request: IncomingMessage, response: ServerResponse, asked: AlphaRequest) => void;

/** Hop-by-hop (RFC 9110 7.6.1), but for the body's framing. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
];

/**
 * By these, servers learn of another client, host, path or method than the request's own. A client could have v4
 * believe anything: v4 gets none of them, and knows the gateway as its client, as in the alpha lane.
 */
const FORWARDING = new Set([
  "forwarded",
  "x-real-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "true-client-ip",
  "x-host",
  "x-rewrite-url",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
]);
const FORWARDING_PREFIXES = ["x-forwarded", "x-original-", "x-envoy-", "cf-", "fastly-"];

/** Some servers read a name with underscores as one with hyphens. */
function isForwarding(name: string): boolean {
  const plain = name.replaceAll("_", "-");
  return FORWARDING.has(plain) || FORWARDING_PREFIXES.some((prefix) => plain.startsWith(prefix));
}

/** What v4 must never see, and a client never of v4 (contract, rule 8). */
const NEVER_TO_V4 = [...HOP_BY_HOP, "cookie"];
const NEVER_TO_CLIENT = [...HOP_BY_HOP, "server", "set-cookie"];

export interface NativeProxyOptions {
  readonly origin: URL;
  readonly timeoutMs: number;
  /** Requests at a time. */
  readonly connections: number;
  /** The one that all who ask this v4 heed. */
  readonly breaker: CircuitBreaker;
}

/** What a forwarded request takes out of the pack that it began with. */
export interface NativeProxyTexts {
  /** The body of an answer that v4 did not give. */
  readonly failure: string;
  /** The body of the 503 while the circuit is open, and while all connections are in use. */
  readonly circuitOpen: string;
  /** Decides by the client's token, before v4 is asked for anything. */
  readonly enter: (asked: AlphaRequest, hash: string, token: string) => NativeEntry | Promise<NativeEntry>;
  /** The body of a refusal. */
  readonly write: (reason: string) => string;
  /** v4's scheme, for the token that goes on in place of the client's. */
  readonly scheme: string;
  /** Status and body for a client that asks too much. */
  readonly limited: { readonly status: number; readonly body: string };
  readonly lookUp: LookUpNativeToken;
  /** Does an answer depend on `Origin`, since browser clients are let in? */
  readonly varyOrigin: boolean;
  /** Keeps the record of every request. @throws where it can't be kept. */
  readonly record: (asked: AlphaRequest, outcome: NativeOutcome, hash: string | undefined) => Promise<void>;
  /** Whether the answer ends no sooner than its record is kept; else it is kept when the answer is over. */
  readonly recordFirst: boolean;
}

/** Names of headers that this connection's `Connection` header makes hop-by-hop besides. */
const named = (connection: string | undefined): string[] =>
  (connection ?? "")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean);

/** Without these no body could be told from the next message, and no caller from another. */
const KEPT = new Set(["content-length", "transfer-encoding", "host", "authorization"]);

/** Takes off what must not go on before the proxy copies the headers (lesson L17). */
function cleanHeaders({ headers }: IncomingMessage, never: readonly string[]): void {
  for (const name of [...never, ...named(headers.connection)]) if (!KEPT.has(name)) delete headers[name];
}

/** Adds to the `Vary` of v4's answer. */
function addVaryOrigin({ headers }: IncomingMessage): void {
  const before = headers.vary;
  const names = new Set((before ?? "").split(",").map((name) => name.trim().toLowerCase()));
  if (names.has("*") || names.has("origin")) return;
  headers.vary = before ? `${before}, Origin` : "Origin";
}

function answerFault(
  response: ServerResponse | Socket,
  body: string,
  status = 500,
  more: Readonly<Record<string, string>> = {},
): void {
  if (!("writeHead" in response)) return void response.destroy();
  if (response.writableEnded) return;
  // A half-sent answer can only be broken off, so that the client sees it is one.
  if (response.headersSent) return void response.destroy();
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  response.writeHead(status, { ...headers, ...more }).end(body);
}

/** The token that a client showed. */
interface ClientToken {
  readonly hash: string;
  readonly token: string;
}

/** What becomes of a request on its way. */
interface Progress {
  readonly words: NativeProxyTexts;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  bytesIn: number;
  bytesOut: number;
  /** Both, when they were looked at last; undefined before. */
  lookedAt: number | undefined;
  fault?: string;
  /** Has v4 accepted the token? */
  isKnown: boolean;
  /** Of v4's answer; null while there is none, undefined where v4 was not asked. */
  v4Status: number | null | undefined;
  /** Hears v4's status and headers. */
  answered?: (status: number, headers: IncomingMessage["headers"]) => void;
  /** Tells the breaker what the try came to. The first word counts. */
  ended(outcome: AttemptOutcome): void;
}

function beginProgress(
  words: NativeProxyTexts,
  request: IncomingMessage,
  response: ServerResponse,
  breaker: CircuitBreaker,
): Progress {
  let told = false;
  return {
    words,
    request,
    response,
    bytesIn: 0,
    bytesOut: 0,
    lookedAt: undefined,
    isKnown: false,
    v4Status: undefined,
    ended(outcome) {
      if (!told) breaker.record(outcome);
      told = true;
    },
  };
}

/** While others wait for a connection, a client that keeps v4 waiting must move so many bytes a second. */
const LEAST_RATE = 512;

/**
 * Ends streams whose clients send or take next to nothing, while others wait for their connections. Nobody is ended
 * for being slow while there is room.
 */
function createSlowStreamGuard(shares: ConnectionShares, windowMs: number) {
  const streams = new Set<Progress>();
  let timer: NodeJS.Timeout | undefined;

  function look(): void {
    for (const stream of streams) {
      const { request, response, bytesIn, bytesOut, lookedAt } = stream;
      const waitsForClient = !request.complete || response.writableNeedDrain;
      const moved = bytesIn + bytesOut - (lookedAt ?? -Infinity);
      stream.lookedAt = waitsForClient ? bytesIn + bytesOut : undefined;
      if (!waitsForClient || moved >= (LEAST_RATE * windowMs) / 1000) continue;
      stream.fault ??= "the client was too slow while others waited";
      stream.ended("ignored");
      response.destroy();
    }
    if (shares.queueLength() > 0) return;
    clearInterval(timer);
    timer = undefined;
    for (const stream of streams) stream.lookedAt = undefined;
  }

  return {
    streams,
    /** To be called when somebody has to wait. */
    begin() {
      timer ??= setInterval(look, windowMs).unref();
    },
  };
}

/**
 * Did v4 fail to serve? A connection that breaks while the client still sends may be the client's doing: it could
 * have others refused by stopping half-way.
 */
const isV4s = (error: Error, request: IncomingMessage): boolean =>
  request.complete || toUpstreamError(error).kind === "unreachable";

/** The native lane: what forwards with the words of a pack, and why its connections are short. */
export interface NativeLane {
  (words: NativeProxyTexts): ForwardNative;
  /** Empty where they aren't. */
  shortages(): readonly string[];
}

/** The native lane: v4's own clients, forwarded untouched and streamed both ways. */
export function createNativeProxy({
  origin,
  timeoutMs,
  connections,
  breaker,
}: NativeProxyOptions): NativeLane {
  const underWay = new WeakMap<IncomingMessage, Progress>();
  const shares = createConnectionShares({
    size: connections,
    perToken: Math.ceil(connections / 2),
    perAddress: Math.ceil((connections * 3) / 4),
    maxWaitMs: timeoutMs,
  });
  const guard = createSlowStreamGuard(shares, timeoutMs / 4);
  const proxy = createProxyMiddleware<IncomingMessage, ServerResponse>({
    target: origin.href.replace(/\/$/, ""),
    changeOrigin: true,
    xfwd: false,
    followRedirects: false,
    proxyTimeout: timeoutMs,
    on: {
      proxyReq(_outgoing, request) {
        const progress = underWay.get(request);
        request.on("data", ({ length }: Buffer) => progress && (progress.bytesIn += length));
      },
      proxyRes(answer, request, response) {
        cleanHeaders(answer, NEVER_TO_CLIENT);
        // The client's own wish: the proxy would promise to keep every connection.
        answer.headers.connection = response.shouldKeepAlive ? "keep-alive" : "close";
        const progress = underWay.get(request);
        if (!progress) return;
        if (progress.words.varyOrigin) addVaryOrigin(answer);
        progress.v4Status = answer.statusCode;
        progress.answered?.(answer.statusCode ?? 0, answer.headers);
        progress.ended(outcomeOfStatus(answer.statusCode, progress.isKnown));
        answer.on("data", ({ length }: Buffer) => void (progress.bytesOut += length));
        answer.once("aborted", () => {
          if (!response.destroyed) progress.fault ??= "v4 broke its answer off";
        });
      },
      error(error, request, response) {
        const progress = underWay.get(request);
        if (progress && !progress.response.destroyed) progress.fault ??= error.message;
        progress?.ended(isV4s(error, request) ? outcomeOfError(error, progress.isKnown) : "ignored");
        answerFault(response, progress?.words.failure ?? "");
      },
    },
  });

  const retry = { "retry-after": String(Math.ceil(breaker.openMs / 1000)) };

  function forwardWith(words: NativeProxyTexts): ForwardNative {
    const {
      failure,
      circuitOpen: pause,
      limited,
      lookUp,
      enter,
      write,
      scheme,
      record,
      recordFirst,
      varyOrigin,
    } = words;

    /** Forwards to v4, with the token that stands for the client's where there is one. */
    function forwardOn(progress: Progress, stands: string | undefined): Promise<void> | void {
      const { request, response } = progress;
      if (!breaker.allow()) {
        progress.fault = "v4 fails: the circuit is open";
        return answerFault(response, pause, 503, retry);
      }
      if (stands !== undefined) request.headers.authorization = `${scheme} ${stands}`;
      progress.v4Status = null;
      underWay.set(request, progress);
      cleanHeaders(request, NEVER_TO_V4);
      for (const name in request.headers) if (isForwarding(name)) delete request.headers[name];
      // The framing is the gateway's own, and not as the client spelled it.
      if (request.headers["transfer-encoding"] !== undefined)
        request.headers["transfer-encoding"] = "chunked";
      // The proxy tells of a fault in three ways: by the handler above, by this callback, and by a rejection.
      return proxy(request, response, () => answerFault(response, failure));
    }

    /** Lets the request go on once the client may and there is a connection. What it throws is told as a 500. */
    async function pass(progress: Progress, asked: AlphaRequest, key: ClientToken): Promise<void> {
      const { response } = progress;
      const looked = lookUp(asked, key.hash);
      const guess = looked instanceof Promise ? await looked : looked;
      if (guess.retryAfter !== undefined) {
        progress.fault = "too many tokens that v4 does not know, from this address";
        const wait = { "retry-after": String(guess.retryAfter) };
        return answerFault(response, limited.body, limited.status, wait);
      }
      const entered = enter(asked, key.hash, key.token);
      const { token: stands, refusal } = entered instanceof Promise ? await entered : entered;
      // The client is gone, and its record is kept.
      if (response.destroyed) return;
      if (refusal) {
        guess.answered(refusal.status, {}, false);
        return answerFault(
          response,
          write(refusal.reason),
          refusal.status,
          refusal.status === 503 ? retry : {},
        );
      }
      progress.answered = (status, headers) => guess.answered(status, headers, stands !== undefined);
      const client = {
        token: key.hash,
        address: addressNetwork(asked.address),
        isKnown: guess.known || stands !== undefined,
      };
      progress.isKnown = client.isKnown;
      const taken = shares.acquire(client, asked.signal);
      if (taken instanceof Promise) guard.begin();
      const release = taken instanceof Promise ? await taken : taken;
      if (response.destroyed) return release();
      guard.streams.add(progress);
      response.once("close", () => {
        guard.streams.delete(progress);
        release();
      });
      await forwardOn(progress, stands);
    }

    function failed(error: unknown, progress: Progress): void {
      const { response } = progress;
      if (!(error instanceof ConnectionUnavailableError)) return answerFault(response, failure);
      progress.fault = error.message;
      const [status, body] = error.isOwnShare ? [limited.status, limited.body] : [503, pause];
      answerFault(response, body, status, retry);
    }

    return function forward(request, response, asked) {
      const started = performance.now();
      const progress = beginProgress(words, request, response, breaker);
      const token = (header(asked, "authorization") ?? "").trim().replace(/^\S+ +/, "");
      const hash = tokenHash(token);
      let kept: Promise<void> | undefined;
      function keep(isAborted = false): Promise<void> {
        const { bytesIn, bytesOut, fault, v4Status } = progress;
        const warnings = [
          ...(fault === undefined ? [] : [`native lane: ${fault}`]),
          ...(isAborted ? ["the answer broke off"] : []),
        ];
        const ms = performance.now() - started;
        // The client went away, unless something else broke the answer off.
        const isGone = isAborted && fault === undefined;
        const status = isGone ? CLIENT_GONE : response.statusCode;
        return (kept ??= record(asked, { status, v4Status, bytesIn, bytesOut, warnings, ms }, hash));
      }
      if (varyOrigin) response.setHeader("vary", "Origin");
      if (recordFirst) delayResponseEnd(response, () => keep());
      response.once("close", () => {
        if (progress.v4Status !== undefined) progress.ended("ignored");
        // The answer is over: whoever keeps records has told of one that was not.
        keep(!response.writableFinished).catch(() => {});
      });
      pass(progress, asked, { hash, token }).catch((error: unknown) => failed(error, progress));
    };
  }

  return Object.assign(forwardWith, {
    shortages: () => (shares.isExhausted() ? ["all connections to v4 for its own clients are in use"] : []),
  });
}
