/** Requests and responses as plain data, and what is collected about a request while it is processed. */
import type { Readable } from "node:stream";
import type { HttpError } from "../dialect/http-error.ts";
import type { Route } from "../mapping/compile/route.ts";
import type { Parameters } from "../mapping/router.ts";
import type { RecordedCall } from "../audit/record.ts";
import type { SentBody } from "../audit/redact.ts";
import type { StartCallSpan, RequestSpan } from "../observability/tracing/tracing.ts";
import type { RateLimitStatus } from "../rate-limit/limiter.ts";
import type { TokenInfo } from "../auth/token-cache.ts";

/** Whose body is read. Unknown clients get less memory and less time. */
export interface BodyOwner {
  /** Whether v4 has accepted the client's token. */
  readonly known: boolean;
  readonly address: string;
}

/**
 * Reads a body and decodes it. Call it once at most.
 *
 * @param most bytes, where the limit of this body is lower than that of others
 * @throws {HttpError} 400 for a body that is too large, too slow, incomplete, or has an unknown coding; 500 while
 *   there is no memory for it
 */
export type ReadBody = (owner: BodyOwner, most?: number) => Promise<Buffer>;

/** A client's request. */
export interface AlphaRequest {
  /** Value of the response's `X-Request-Id`. */
  readonly id: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly method: string;
  /** As the client wrote it, without the query. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** All lines of a header by its lower-case name: repeated headers must be visible. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Undefined for methods whose body is ignored. */
  readonly readBody?: ReadBody | undefined;
  /** In place of `readBody`, on a route that takes a file: the bytes as they arrive. */
  readonly openUpload?: (() => Readable) | undefined;
  readonly address: string;
  /** Fires when the client disconnects. */
  readonly signal: AbortSignal;
}

/** A file that is streamed from v4. */
export interface FileResponse {
  readonly type: string;
  /** In bytes, where v4 declares it. */
  readonly length: string | undefined;
  /** v4's content coding. */
  readonly coding: string | undefined;
  readonly stream: Readable;
}

/** JSON text, or a file. */
export type ResponseBody = string | Buffer | FileResponse;

/** The response to a client. */
export interface AlphaResponse {
  readonly status: number;
  /** Reason phrase where it is not the standard one. */
  readonly phrase?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: Buffer;
  /** In place of the body. */
  readonly file?: FileResponse;
  /** Resolves when the record of a file is written, which is after its end. Rejects if it had to be durable and is not. */
  readonly recorded?: Promise<void>;
}

/** A client's credentials. */
export interface Credentials {
  /** The token in clear text, for v4 alone; undefined for a client without one. */
  readonly token: string | undefined;
  /** The token's hash, which stands for it everywhere else. */
  readonly hash: string | undefined;
  /** Why the credentials are invalid; there is no token then. */
  readonly error?: HttpError;
}

/** A client without a token. */
export const NOBODY: Credentials = { token: undefined, hash: undefined };

/** The route of a request and the values in its path. */
export interface RouteMatch {
  readonly route: Route;
  readonly parameters: Parameters;
}

/** A call to v4 and its response. The body is read only where bodies are recorded. */
export interface UpstreamCallRecord extends Omit<RecordedCall, "response"> {
  readonly response?: {
    readonly text: string;
    readonly bytes?: Buffer | undefined;
    readonly isValidJson?: boolean | undefined;
  };
}

/** Collected by authentication and authorization, and by the calls that test the token. */
export interface ClientContext {
  credentials?: Credentials;
  /** What the token cache had when the request was authorized. */
  tokenInfo?: TokenInfo | undefined;
  /** Whether v4 accepted the token in this request. */
  accepted?: boolean;
  /** The token that v4 was called with, where it differs from the client's. */
  v4Token?: string | undefined;
}

/** Collected by the rate limit and by brown-outs. */
export interface LimitContext {
  rateLimitStatus?: RateLimitStatus;
  /** Why the gateway rejected the request, where such rejections are counted. */
  rejectedBy?: "bodies" | "brown_out" | "limit";
}

/** Collected when the body is read. */
export interface BodyContext {
  body?: Buffer;
  /** The members of the body, where it was read as a form. */
  form?: SentBody["form"];
}

/** Collected while a request or a response is translated. */
export interface TranslationReport {
  readonly losses: Set<string>;
  readonly warnings: string[];
}

/** Collected by calls to v4 and to its login server. */
export interface UpstreamContext {
  readonly calls: UpstreamCallRecord[];
  readonly warnings: string[];
  /** Milliseconds spent waiting for responses. */
  upstreamMs: number;
  /** Calls in progress, and since when there is one. */
  callsInProgress: number;
  waitingSince: number;
  /** Undefined without tracing. */
  span?: { readonly call: StartCallSpan } | undefined;
}

/** Values of the response's headers. */
export interface HeaderContext {
  /** Method and path of the v4 call that the response is built from. */
  upstreamEquivalent?: string;
  /** v4's own rate limit headers, where v4 rejected the request. */
  upstreamRateLimitHeaders?: Readonly<Record<string, string>>;
}

/** When a request left a stage, by `performance.now()`; 0: it has not reached the end of this stage. */
export interface StageTimes {
  authenticate: number;
  matchRoute: number;
  rateLimit: number;
  authorize: number;
  /** The first v4 call starts. */
  buildRequest: number;
  buildResponse: number;
}

/**
 * All that is collected about one request, for the response's headers, the audit record, the metrics and the log.
 * Stages get the part that they own, not the whole.
 */
export interface RequestContext
  extends ClientContext, LimitContext, BodyContext, TranslationReport, UpstreamContext, HeaderContext {
  readonly startedAt: number;
  readonly time: Date;
  readonly warnings: string[];
  match?: RouteMatch | undefined;
  /** Name in the audit and the metrics, where the request is not for a route of the pack. */
  route?: string;
  span?: RequestSpan | undefined;
  /** The W3C trace of the request's calls. */
  traceparent?: string;
  /** Bytes of streamed files: from the client, and to it. */
  streamedBytes?: { in: number; out: number };
  /** Related v4 responses that were cached, and that were not. */
  cacheHits: number;
  cacheMisses: number;
  readonly stageTimes: StageTimes;
  /** Releases what the request holds; the lifecycle calls it at the end of every request. */
  release?: (() => void) | undefined;
}

/** Creates the context of one request. @param startedAt by `performance.now()` */
export const createContext = (startedAt = performance.now()): RequestContext => ({
  startedAt,
  time: new Date(),
  calls: [],
  losses: new Set(),
  warnings: [],
  upstreamMs: 0,
  callsInProgress: 0,
  waitingSince: 0,
  stageTimes: {
    authenticate: 0,
    matchRoute: 0,
    rateLimit: 0,
    authorize: 0,
    buildRequest: 0,
    buildResponse: 0,
  },
  cacheHits: 0,
  cacheMisses: 0,
});

/** Whether a request target has a fragment. It is invalid (RFC 9112 3.2), and servers disagree on where it starts. */
export const hasFragment = ({ path, query }: Pick<AlphaRequest, "path" | "query">): boolean =>
  path.includes("#") || query.includes("#");

/** The first line of a header; undefined where it is missing or empty. */
export const header = (request: AlphaRequest, name: string): string | undefined =>
  request.headers[name]?.[0] || undefined;
