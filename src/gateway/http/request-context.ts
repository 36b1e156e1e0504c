/** Converts HTTP requests to plain data. Stages only use plain data, so they can be tested without HTTP. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { clientAddresses, trustedProxies, type OnUntrustedProxy } from "../limits/client-address.ts";
import { Cancellation, type CancelSignal } from "../upstream/cancel-signal.ts";
import { takeQueryTokens, type AlphaRequest, splitTarget } from "../request/request.ts";
import type { AlphaHandler } from "../pipeline/lifecycle.ts";
import type { RequestBodies } from "../bodies/receive-body.ts";
import { sendResponse } from "./send-response.ts";
import { overriddenMethod } from "../../pack/index.ts";

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the id of a request: the client's id if it is harmless in headers, logs and queries, otherwise a new one. */
export const requestIdOf = (given: string | undefined): string =>
  given !== undefined && REQUEST_ID.test(given) ? given : randomUUID();

/** Middleware of the public port. Express's router calls it with the requests and responses of `node:http`. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void | Promise<void>;

/** The middleware in place of one that is switched off. */
export const passOn: Middleware = (_request, _response, next) => next();

/** The member of a response that contains its plain request. */
const REQUEST = Symbol("plain request");

type DescribedResponse = ServerResponse & { [REQUEST]: AlphaRequest };

/** Returns the plain request that {@link createRequestContext} created. */
export const plainRequestOf = (response: ServerResponse): AlphaRequest =>
  (response as DescribedResponse)[REQUEST];

/** Replaces the plain request for later middleware. */
export const replacePlainRequest = (response: ServerResponse, plain: AlphaRequest): void =>
  void ((response as DescribedResponse)[REQUEST] = plain);

/** The member of a request that contains the client's target, if it was replaced for Express. */
const TARGET = Symbol("target of the client");

type TargetedRequest = IncomingMessage & { [TARGET]?: string };

/** Matches a path, with or without a query, of visible ASCII characters and without a fragment. */
const PLAIN_TARGET = /^\/[\x21\x22\x24-\x7e]*$/;

/** Matches the scheme and authority of a target in absolute form, which every server must accept (RFC 9112 3.2.2). */
const SCHEME_AND_AUTHORITY = /^https?:\/\/[^/?#]*/i;

/**
 * Converts a target to origin form. A target in absolute form, which clients send to a proxy, is reduced to its path
 * and query.
 */
function originForm(target: string): string {
  if (!SCHEME_AND_AUTHORITY.test(target) || !URL.canParse(target)) return target;
  const rest = target.replace(SCHEME_AND_AUTHORITY, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/**
 * Replaces the target by one in origin form that Express can parse. For `http://[::1`, Express would run no middleware,
 * so that no rate limit would apply and no record would be written. Express would also remove a fragment before it
 * matches a path. The pipeline still receives the client's target.
 */
export function replaceUnusualTarget(request: TargetedRequest): void {
  const target = originForm(request.url ?? "");
  request.url = target;
  if (PLAIN_TARGET.test(target)) return;
  request[TARGET] = target;
  const [path = ""] = target.split("?", 1);
  request.url = PLAIN_TARGET.test(path) ? path : "/";
}

/**
 * Returns the target that the client sent. In an embedding application, it is relative to the path at which the router
 * is mounted.
 */
const targetOf = (request: TargetedRequest): string => request[TARGET] ?? request.url ?? "";

/** Maximum number of bytes of the head of a request: the target, and the names and values of the headers. */
export const LONGEST_HEAD = 16_384;

/** The text of the error for the client. */
export const HEAD_TOO_LONG = "The headers and the path of the request are too long.";

/** Whether the head of a request is longer than {@link LONGEST_HEAD}. */
export function isHeadTooLong(request: IncomingMessage): boolean {
  let left = LONGEST_HEAD - targetOf(request).length;
  for (const text of request.rawHeaders) left -= text.length;
  return left < 0;
}

/** Reverts {@link replaceUnusualTarget}. */
export function restoreTarget(request: IncomingMessage): void {
  request.url = targetOf(request);
}

/** Creates a signal that is aborted if the client disconnects before the response is complete. */
function disconnectSignal(response: ServerResponse): CancelSignal {
  const cancellation = new Cancellation();
  response.on("close", () => {
    if (!response.writableFinished) cancellation.abort();
  });
  return cancellation;
}

/** Returns all lines of each header by its lower-case name. Node's `headersDistinct` visits each name twice. */
function headerLines(raw: readonly string[]): Record<string, string[]> {
  const lines = Object.create(null) as Record<string, string[]>;
  for (let at = 1; at < raw.length; at += 2) {
    const name = raw[at - 1]?.toLowerCase() ?? "";
    const value = raw[at] ?? "";
    const before = lines[name];
    if (before) before.push(value);
    else lines[name] = [value];
  }
  return lines;
}

/**
 * Maximum length of a client's name in characters. Longer names are ignored, because a shortened name could be that of
 * a different client.
 */
const MAX_LABEL_LENGTH = 64;

/** Some servers treat underscores, or any other punctuation, in names as hyphens. */
const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^a-z\d]/g, "-");

/**
 * Removes the header that contains the client's name, and all headers with a similar name, so that no stage, record or
 * upstream receives them.
 *
 * @returns the value from a trusted proxy. A client can't change it: similar names are ignored, and the last of several
 *   lines is the proxy's.
 */
function createLabelReader(
  name: string | undefined,
  trustProxy: readonly string[],
): (request: IncomingMessage, lines: Record<string, string[]>) => string | undefined {
  if (name === undefined) return () => undefined;
  const isFromProxy = trustedProxies(trustProxy);
  const exact = name.toLowerCase();
  const wanted = plainName(name);
  return function takeLabel(request, lines) {
    const value = lines[exact]?.at(-1) ?? "";
    for (const key in lines) {
      if (plainName(key) !== wanted) continue;
      delete lines[key];
      delete request.headers[key];
    }
    const label = Buffer.from(value, "latin1").toString().trim();
    const isUsable = label !== "" && label.length <= MAX_LABEL_LENGTH;
    return isUsable && isFromProxy(request) ? label : undefined;
  };
}

interface RequestContextOptions {
  /** Addresses and networks of proxies whose `X-Forwarded-For` and `clientHeader` are trusted. */
  readonly trustProxy: readonly string[];
  /** The query parameter that contains the token. */
  readonly tokenParameter: string | undefined;
  /** The header that contains the method which replaces a POST, in lower case. */
  readonly methodHeader: string | undefined;
  /** The header in which these proxies send the client's name. */
  readonly clientHeader: string | undefined;
  /**
   * Whether the id that the client chose for its request contains a secret. If so, no log, trace or record may contain
   * the id.
   */
  readonly isSecretId: (request: AlphaRequest) => boolean;
  readonly onUntrustedProxy?: OnUntrustedProxy;
}

/**
 * Creates the first middleware. It converts the request to plain data, with its id, its start and the client's address.
 * A token in the query is stored separately, so that no stage or record contains it.
 */
export function createRequestContext({
  trustProxy,
  tokenParameter,
  methodHeader,
  clientHeader,
  isSecretId,
  onUntrustedProxy,
}: RequestContextOptions): Middleware {
  const addressOf = clientAddresses(trustProxy, onUntrustedProxy);
  const takeLabel = createLabelReader(clientHeader, trustProxy);
  return function requestContext(request, response, next) {
    const startedAt = performance.now();
    const { method = "" } = request;
    const [path, query] = splitTarget(targetOf(request));
    const headers = headerLines(request.rawHeaders);
    const givenId = headers["x-request-id"]?.[0];
    const sent: AlphaRequest = {
      id: requestIdOf(givenId),
      startedAt,
      // If its override header is invalid, a request keeps its method, and is rejected after its path is known.
      method:
        methodHeader === undefined ? method : (overriddenMethod(method, headers[methodHeader]) ?? method),
      path,
      query,
      headers,
      address: addressOf(request),
      label: takeLabel(request, headers),
      signal: disconnectSignal(response),
    };
    const plain = tokenParameter === undefined ? sent : takeQueryTokens(sent, tokenParameter);
    const hasSecretId = plain.id === givenId && isSecretId(plain);
    replacePlainRequest(response, hasSecretId ? { ...plain, id: requestIdOf(undefined) } : plain);
    next();
  };
}

const BODY_METHODS = new Set(["POST", "PUT", "PATCH"]);

/**
 * Converts handlers of plain requests to Express middleware. No body parser runs before them, because the handler
 * reads the body itself, after authorization and within the budget of `bodies`.
 */
export function createResponder(bodies: RequestBodies): (handler: AlphaHandler) => Middleware {
  return (handler) =>
    async function respond(request, response) {
      const plain = plainRequestOf(response);
      if (!BODY_METHODS.has(plain.method)) {
        sendResponse(request, response, await handler(plain), false);
        return;
      }
      const body = bodies.of(request);
      try {
        const result = await handler({ ...plain, readBody: body.read, openUpload: body.openUpload });
        sendResponse(request, response, result, body.hasUnreadRest());
      } finally {
        body.release();
      }
    };
}
