import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createProxyMiddleware } from "http-proxy-middleware";
import type { Breaker, TryOutcome } from "../upstream/breaker.ts";
import { isOutage, OUTAGE_STATUSES, upstreamFault } from "../upstream/fault.ts";
import { tokenHash } from "../tokens/fingerprint.ts";
import { header, type AlphaRequest } from "./exchange.ts";
import { holdEnd } from "./hold-end.ts";
import type { NativeForward } from "./listener.ts";
import type { NativeEntry } from "./native-access.ts";
import type { NativeOutcome } from "./record.ts";

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

/** What v4 must never see, and a client never of v4 (contract, rule 8). */
const NEVER_TO_V4 = [...HOP_BY_HOP, "cookie"];
const NEVER_TO_CLIENT = [...HOP_BY_HOP, "server", "set-cookie"];

export interface NativeLaneOptions {
  readonly origin: URL;
  readonly timeoutMs: number;
  /** The one that all who ask this v4 heed. */
  readonly breaker: Breaker;
}

/** What a forwarded request takes out of the pack that it began with. */
export interface NativeWords {
  /** The body of an answer that v4 did not give. */
  readonly failure: string;
  /** The body of the 503 while v4 is left alone. */
  readonly pause: string;
  /** Decides by the client's token, before v4 is asked for anything. */
  readonly enter: (asked: AlphaRequest, hash: string, token: string) => NativeEntry | Promise<NativeEntry>;
  /** The body of a refusal. */
  readonly write: (reason: string) => string;
  /** v4's scheme, for the token that goes on in place of the client's. */
  readonly scheme: string;
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

/** What becomes of a request on its way. */
interface Progress {
  readonly failure: string;
  bytesIn: number;
  bytesOut: number;
  fault?: string;
  /** Of v4's answer; null while there is none, undefined where v4 was not asked. */
  v4Status: number | null | undefined;
  /** Tells the breaker what the try came to. The first word counts. */
  ended(outcome: TryOutcome): void;
}

function beginProgress(failure: string, breaker: Breaker): Progress {
  let told = false;
  return {
    failure,
    bytesIn: 0,
    bytesOut: 0,
    v4Status: undefined,
    ended(outcome) {
      if (!told) breaker.ended(outcome);
      told = true;
    },
  };
}

/**
 * Did v4 fail to serve? A connection that breaks while the client still sends may be the client's doing: it could
 * have others refused by stopping half-way.
 */
const isV4s = (error: Error, request: IncomingMessage): boolean =>
  isOutage(error) && (request.complete || upstreamFault(error).kind === "unreachable");

/** The native lane: v4's own clients, forwarded untouched and streamed both ways. */
export function createNativeLane({
  origin,
  timeoutMs,
  breaker,
}: NativeLaneOptions): (words: NativeWords) => NativeForward {
  const underWay = new WeakMap<IncomingMessage, Progress>();
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
        if (progress) progress.v4Status = answer.statusCode;
        progress?.ended(OUTAGE_STATUSES.has(answer.statusCode) ? "failed" : "answered");
        answer.on("data", ({ length }: Buffer) => progress && (progress.bytesOut += length));
      },
      error(error, request, response) {
        const progress = underWay.get(request);
        if (progress) progress.fault ??= error.message;
        progress?.ended(isV4s(error, request) ? "failed" : "neither");
        answerFault(response, progress?.failure ?? "");
      },
    },
  });

  const retry = { "retry-after": String(Math.ceil(breaker.pauseMs / 1000)) };

  return ({ failure, pause, enter, write, scheme, record, recordFirst }) =>
    function forward(request, response, asked) {
      const started = performance.now();
      const progress = beginProgress(failure, breaker);
      const token = (header(asked, "authorization") ?? "").trim().replace(/^\S+ +/, "");
      const hash = tokenHash(token);
      let kept: Promise<void> | undefined;
      function keep(...ending: string[]): Promise<void> {
        const { bytesIn, bytesOut, fault, v4Status } = progress;
        const warnings = [...(fault === undefined ? [] : [`native lane: ${fault}`]), ...ending];
        const ms = performance.now() - started;
        const outcome = { status: response.statusCode, v4Status, bytesIn, bytesOut, warnings, ms };
        return (kept ??= record(asked, outcome, hash));
      }
      if (recordFirst) holdEnd(response, keep);
      response.once("close", () => {
        if (progress.v4Status !== undefined) progress.ended("neither");
        // The answer is over: whoever keeps records has told of one that was not.
        keep(...(response.writableFinished ? [] : ["the answer broke off"])).catch(() => {});
      });
      // The proxy tells of a fault in three ways: by the handler above, by this callback, and by a rejection, which
      // would end the process.
      const fail = () => answerFault(response, failure);
      function goOn({ token: stands, refusal }: NativeEntry): void {
        // The client is gone, and its record is kept.
        if (response.destroyed) return;
        if (refusal) {
          const more = refusal.status === 503 ? retry : {};
          return answerFault(response, write(refusal.reason), refusal.status, more);
        }
        if (!breaker.admits()) {
          progress.fault = "v4 fails, and is left alone for a moment";
          return answerFault(response, pause, 503, retry);
        }
        if (stands !== undefined) request.headers.authorization = `${scheme} ${stands}`;
        progress.v4Status = null;
        underWay.set(request, progress);
        cleanHeaders(request, NEVER_TO_V4);
        Promise.resolve(proxy(request, response, fail)).catch(fail);
      }
      const entry = enter(asked, hash, token);
      if (entry instanceof Promise) entry.then(goOn).catch(fail);
      else goOn(entry);
    };
}
