import type { ShareClient } from "./share-usage.ts";

/** A request to v4. */
export interface HttpRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** A query parameter with the token. It is apart from the path, so that no record, log or message has it. */
  readonly secretQuery?: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Each client has a share of the connections. Undefined for a request of the gateway itself. */
  readonly client?: ShareClient | undefined;
}

export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The decoded body in UTF-8; empty without one. */
  readonly bytes: Buffer;
  /** Milliseconds until the response was complete, failed attempts included. */
  readonly ms: number;
}
