/** Requests to v4, and its responses: buffered, or streamed. */
import type { Readable } from "node:stream";
import type { CancelSignal } from "./cancel-signal.ts";
import type { ShareClient } from "./share-usage.ts";

/** The methods whose requests may be sent again if v4 closed the idle connection (RFC 9110 9.2.2). */
export const IDEMPOTENT: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

interface RequestHead {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  /** A query parameter that contains the token. It is separate from the path, so that no record, log or message contains it. */
  readonly secretQuery?: string | undefined;
  /** The headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request to v4. @typeParam Body the type of its body, a text if the gateway has created it */
export interface HttpRequest<Body = string> extends RequestHead {
  readonly body?: Body | undefined;
  /** The client whose share of the connections is used. Undefined for a request of the gateway itself. */
  readonly client?: ShareClient | undefined;
  /** Called when the request is sent. The function that it returns is called when a response starts. */
  readonly onSent?: () => () => void;
}

/** A request to v4 whose body or response is streamed. */
export interface StreamRequest extends RequestHead {
  readonly body: Readable | undefined;
  /** The client whose share of the connections for files is used. */
  readonly client: ShareClient;
}

export interface ResponseHead {
  readonly status: number;
  /** The headers, with lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface HttpResponse extends ResponseHead {
  /** The decoded body, in UTF-8 unless the client keeps other bytes; empty if missing. */
  readonly bytes: Buffer;
  /** Milliseconds until the response was complete, failed attempts included. */
  readonly ms: number;
}

/** The head of v4's response, and its body, which must be read to its end or destroyed. */
export interface StreamResponse extends ResponseHead {
  readonly body: Readable;
}

/** Sends a request whose body may also be bytes, as {@link Upstream}. */
export type CallUpstream = (
  request: HttpRequest<string | Buffer>,
  signal?: CancelSignal,
) => Promise<HttpResponse>;

export interface Upstream {
  /**
   * Sends a request and buffers the response. Unless the client never retries, a GET without a response, or with 502,
   * 503 or 504, is retried twice.
   * Other requests are not retried, because creating objects costs money. Redirects are responses and never followed.
   *
   * @param signal Aborts the request if the client disconnects or a deadline passes.
   * @throws {UpstreamError} if there is no usable response
   */
  call(request: HttpRequest, signal?: CancelSignal): Promise<HttpResponse>;
  /** Closes idle connections and waits for requests in flight. */
  close(): Promise<void>;
}

/** Streams files from and to v4: nothing is buffered, decoded or retried. */
export interface FileUpstream {
  /**
   * Sends one request. If one body fails, the client's or v4's, both fail. The time limit for a whole file, which is
   * four times that for a response, has the same effect.
   *
   * @param signal Aborts the request and the response body if the client disconnects.
   * @throws {UpstreamError} if there is no response; `slow_client` if the client did not send its file in time.
   *   {ConnectionUnavailableError} if no connection was free. If the body was destroyed, the reason.
   */
  stream(request: StreamRequest, signal: CancelSignal): Promise<StreamResponse>;
}
