/** What travels the road, as plain data: no framework object passes the listener. */
import type { Readable } from "node:stream";
import type { HttpError } from "../dialect/http-error.ts";
import type { Route } from "../mapping/compile/route.ts";
import type { Parameters } from "../mapping/router.ts";
import type { RecordedCall } from "../audit/record.ts";
import type { SentBody } from "../audit/redact.ts";
import type { RequestSpan } from "../observability/tracing/tracing.ts";
import type { RateLimitStatus } from "../rate-limit/limiter.ts";
import type { TokenInfo } from "../auth/token-cache.ts";

/** Whose body is read. Who is not known yet gets less room and less time. */
export interface BodyOwner {
  /** Whether v4 has accepted the caller's token. */
  readonly known: boolean;
  readonly address: string;
}

/**
 * Reads a body, decoded; called once at most. `most`, in bytes: where it must be shorter than any other.
 *
 * @throws {HttpError} 400 for one that is too large, too slow, cut off, or in an unknown coding; 500 while there is
 *   no room for it
 */
export type ReadBody = (owner: BodyOwner, most?: number) => Promise<Buffer>;

/** What a client sent. */
export interface AlphaRequest {
  /** Of the answer's `X-Request-Id`. */
  readonly id: string;
  /** By `performance.now()`. */
  readonly startedAt: number;
  readonly method: string;
  /** As it came, without the query. */
  readonly path: string;
  /** Without the question mark. */
  readonly query: string;
  /** Every line of a header by its lower-case name, so that a repeated one is seen. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Undefined for methods whose body is not looked at. */
  readonly readBody?: ReadBody | undefined;
  /** In place of `readBody`, on a route that takes a file: the bytes as they arrive. */
  readonly openUpload?: (() => Readable) | undefined;
  readonly address: string;
  /** Fires when the client goes away. */
  readonly signal: AbortSignal;
}

/** A file that is handed on as it comes from v4. */
export interface FileResponse {
  readonly type: string;
  /** In bytes, where v4 says so. */
  readonly length: string | undefined;
  /** Content coding that v4 has put it in. */
  readonly coding: string | undefined;
  readonly stream: Readable;
}

/** What it gets. */
export interface AlphaResponse {
  readonly status: number;
  /** Reason phrase where it is not the standard one. */
  readonly phrase?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: Buffer;
  /** In place of the body. */
  readonly file?: FileResponse;
  /** When the record of a file is kept, which is when it is over. Rejects where it had to be durable and is not. */
  readonly recorded?: Promise<void>;
}

/** Who is calling. */
export interface Credentials {
  /** The token in the clear, for v4 alone; undefined for a client without one. */
  readonly token: string | undefined;
  /** Its hash, by which everything else knows it. */
  readonly hash: string | undefined;
  /** Why the credentials can't be taken; there is no token then. */
  readonly error?: HttpError;
}

/** A caller without a token. */
export const NOBODY: Credentials = { token: undefined, hash: undefined };

/** The route of a request and the values in its path. */
export interface RouteMatch {
  readonly route: Route;
  readonly parameters: Parameters;
}

/** A call to v4 and what came of it. Its body is only looked at where bodies are recorded. */
export interface UpstreamCallRecord extends Omit<RecordedCall, "response"> {
  readonly response?: {
    readonly text: string;
    readonly bytes?: Buffer | undefined;
    readonly sound?: boolean | undefined;
  };
}

/** What is written down on the way, for the answer's headers, the audit record, the metrics and the log. */
export interface RequestContext {
  readonly startedAt: number;
  readonly time: Date;
  credentials?: Credentials;
  match?: RouteMatch | undefined;
  /** Where that is no route of the pack: what it is called in the audit and the metrics. */
  route?: string;
  /** The body of the request, once it has been read. */
  body?: Buffer;
  /** What was known of the caller's token when the request came. */
  tokenInfo?: TokenInfo | undefined;
  /** Whether v4 accepted the token in this request. */
  accepted?: boolean;
  /** The token that v4 was asked with, where that is not the client's. */
  v4Token?: string | undefined;
  /** The members of the body, where it was read as a form. */
  form?: SentBody["form"];
  rateLimitStatus?: RateLimitStatus;
  /** Tells the limits that v4 has taken a token of which nothing was known. */
  creditAddress?: (() => Promise<void>) | undefined;
  /** Lets others call v4 with the token: what they waited for is known, or will not be. */
  releaseTokenLock?: (() => void) | undefined;
  /** v4's own limit headers, where v4 refused. */
  upstreamRateLimitHeaders?: Readonly<Record<string, string>>;
  /** What the gateway itself refused the request for, where that is counted. */
  rejectedBy?: "bodies" | "brown_out" | "limit";
  /** Method and path of the call that the answer is made from. */
  upstreamEquivalent?: string;
  readonly calls: UpstreamCallRecord[];
  readonly losses: Set<string>;
  readonly warnings: string[];
  /** Bytes of files that went by: from the client, and to it. */
  streamedBytes?: { in: number; out: number };
  /** Milliseconds spent waiting for v4. */
  upstreamMs: number;
  /** The W3C trace that its calls belong to. */
  traceparent?: string;
  /** Where traces are wanted. */
  span?: RequestSpan | undefined;
  readonly stageTimes: StageTimes;
  /** Extra reads that were at hand, and that were not, of those that are kept for a while. */
  cacheHits: number;
  cacheMisses: number;
}

/** When a request had left a stop behind, by `performance.now()`; 0: it hasn't come there. */
export interface StageTimes {
  authenticate: number;
  rateLimit: number;
  authorize: number;
  /** The first call of v4 begins. */
  buildRequest: number;
  /** The answer is made. */
  buildResponse: number;
}

/** Creates the context of one request. @param startedAt by `performance.now()` */
export const createContext = (startedAt = performance.now()): RequestContext => ({
  startedAt,
  time: new Date(),
  calls: [],
  losses: new Set(),
  warnings: [],
  upstreamMs: 0,
  stageTimes: { authenticate: 0, rateLimit: 0, authorize: 0, buildRequest: 0, buildResponse: 0 },
  cacheHits: 0,
  cacheMisses: 0,
});

/** Does the request's target have a fragment? It must not (RFC 9112 3.2), and servers disagree on where it begins. */
export const hasFragment = ({ path, query }: Pick<AlphaRequest, "path" | "query">): boolean =>
  path.includes("#") || query.includes("#");

/** The one line of a header; undefined where it is missing or empty. */
export const header = (request: AlphaRequest, name: string): string | undefined =>
  request.headers[name]?.[0] || undefined;
