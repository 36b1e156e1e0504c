/** A client's request as plain data. */
import type { Readable } from "node:stream";
import { type BodyRules, type SentJson, takeParameter } from "../../pack/index.ts";
import type { CancelSignal } from "../upstream/cancel-signal.ts";
import type { ShareClient } from "../upstream/share-usage.ts";

/**
 * Reads a body and decodes it. Call it at most once. Owners whose token v4 has not accepted get less memory and less
 * time.
 *
 * @param most maximum number of bytes, if this body has a lower limit
 * @throws {HttpError} 400 for a body that is too large, too slow, incomplete, or has an unknown coding; 500 while there
 *   is no memory for it
 */
export type ReadBody = (owner: ShareClient, most?: number) => Promise<Buffer>;

/** A client's request. */
export interface AlphaRequest {
  /** The value of the response's `X-Request-Id`. */
  readonly id: string;
  /** The start of the request, by `performance.now()`. */
  readonly startedAt: number;
  /**
   * The time for expressions. Default: now. A request that is translated again has the time of its first translation.
   */
  readonly time?: Date | undefined;
  readonly method: string;
  /** The path as the client wrote it, without the query. */
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  /** Values of the query parameter that contains the token. They are removed from `query`, so that they are not recorded. */
  readonly queryTokens?: readonly string[];
  /** All lines of a header by its lower-case name, because repeated headers must be visible. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  /** Reads the body; undefined for methods whose body is ignored. */
  readonly readBody?: ReadBody | undefined;
  /** Replaces `readBody` on a route that accepts a file: the bytes as they arrive. */
  readonly openUpload?: (() => Readable) | undefined;
  readonly address: string;
  /** The client's name from a trusted proxy in `CLIENT_HEADER`. Undefined if missing. */
  readonly label?: string | undefined;
  /** Fires when the client disconnects. */
  readonly signal: CancelSignal;
}

/** Returns the path of a target, and its query without the question mark. */
export function splitTarget(target: string): [path: string, query: string] {
  const question = target.indexOf("?");
  return question < 0 ? [target, ""] : [target.slice(0, question), target.slice(question + 1)];
}

/** The body of a request, parsed on first use. @throws {HttpError} if a body does not match its media type */
export type ReadJson = () => SentJson;

/**
 * Returns the client's object or list for expressions: without its wrapper.
 *
 * @param rules the rules of the route's body. If undefined, no wrapper is removed
 * @throws {HttpError} for a body that can't be read, or contains no object
 */
export function sentObject(rules: BodyRules | undefined, readJson: ReadJson): unknown {
  const sent = readJson();
  return rules ? rules.unwrap(sent) : sent.value;
}

/** Whether a request target has a fragment. It is invalid (RFC 9112 3.2), and servers interpret its start differently. */
export const hasFragment = ({ path, query }: Pick<AlphaRequest, "path" | "query">): boolean =>
  path.includes("#") || query.includes("#");

/** Moves the query parameter that contains the token to `queryTokens`. */
export function takeQueryTokens(request: AlphaRequest, parameter: string): AlphaRequest {
  const { query, values } = takeParameter(request.query, parameter);
  return { ...request, query, queryTokens: values };
}

/** Returns the first line of a header. Undefined if it is missing or empty. */
export const header = (request: AlphaRequest, name: string): string | undefined =>
  request.headers[name]?.[0] || undefined;
