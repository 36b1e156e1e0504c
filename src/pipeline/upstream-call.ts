/** All calls of a request to v4 and its login server: their headers, span, time, record, warnings and errors. */
import { pipeline, Transform, type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { printJson } from "../dialect/json/parse.ts";
import { HttpError } from "../dialect/http-error.ts";
import type { Scopes } from "../dialect/scopes.ts";
import { isSuccess, type StatusesDefinition } from "../dialect/statuses.ts";
import type { TokenCache } from "../auth/token-cache.ts";
import type { Endpoint } from "../mapping/compile/endpoint.ts";
import type { JsonObject } from "../mapping/translation-context.ts";
import { createTraceparent, parseTraceparent } from "../observability/tracing/traceparent.ts";
import { addressNetwork } from "../rate-limit/client-address.ts";
import type { Upstream } from "../upstream/client.ts";
import { ConnectionUnavailableError, type ShareClient } from "../upstream/connection-shares.ts";
import { toUpstreamError, UpstreamError } from "../upstream/upstream-error.ts";
import type { FileUpstream, StreamResponse } from "../upstream/file-client.ts";
import {
  header,
  NOBODY,
  type AlphaRequest,
  type Credentials,
  type FileResponse,
  type RequestContext,
  type RouteMatch,
  type UpstreamCallRecord,
  type UpstreamContext,
} from "./context.ts";
import type { ResponseCache } from "./response-cache.ts";
import type { ResolvedCredentials } from "./stages/authorize.ts";
import { toUpstreamResponse, type UpstreamResponse } from "./upstream-response.ts";

/** One call to v4, in v4's dialect. */
export interface UpstreamRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** Value of the filter header. */
  readonly filter?: string | undefined;
  readonly body?: JsonObject | undefined;
}

/** A call to v4 with what is needed to translate its error. */
export interface PreparedRequest extends UpstreamRequest {
  /** Names of v4 members that the gateway added. */
  readonly gatewayFields: ReadonlySet<string>;
  /** The alpha body that it was built from, in its documented form. */
  readonly alpha?: JsonObject;
  /** Whether the client sent a member, by its alpha name. */
  readonly clientSent: (member: string) => boolean;
}

const NO_FIELDS: ReadonlySet<string> = new Set();

/** A call without a body. @param values of the path's parameters */
export const requestWithoutBody = (
  { method, path }: Endpoint,
  values: Readonly<Record<string, unknown>>,
): PreparedRequest => ({
  method,
  path: path(values),
  gatewayFields: NO_FIELDS,
  clientSent: () => false,
});

/** A call to v4 that streams a file, in one direction or both. */
export interface FileRequest {
  readonly method: string;
  readonly path: string;
  /** Value of the `Accept` header. */
  readonly accept: string;
  /** The client's file, where it sends one. */
  readonly upload?:
    | { readonly headers: Readonly<Record<string, string>>; readonly stream: Readable }
    | undefined;
  /** Whether a success is a file, which is streamed. Otherwise it is read as JSON. */
  readonly wantsFile: boolean;
}

/** v4's response to a {@link FileRequest}: a file, or a body that has been read. */
export type StreamedResponse =
  | { readonly status: number; readonly file: FileResponse }
  | { readonly status: number; readonly file?: undefined; readonly response: UpstreamResponse };

/** How v4 names the headers of its dialect. */
export interface UpstreamDialect {
  readonly scheme: string;
  readonly scopesHeader: string;
  readonly filterHeader: string;
}

export interface CallDependencies {
  readonly upstream: Upstream;
  readonly files: FileUpstream;
  readonly tokens: TokenCache;
  readonly scopes: Scopes;
  readonly dialect: UpstreamDialect;
  readonly translation: { readonly statuses: StatusesDefinition };
  readonly responseCache: ResponseCache;
}

/** A call as it is recorded, and how it is sent. */
interface InstrumentedCall<Response> {
  /** Names the server in warnings. */
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly filter?: string | undefined;
  readonly body?: unknown;
  /** @param traceparent of the call's span; undefined without tracing */
  readonly send: (traceparent: string | undefined) => Promise<Response>;
  readonly bodyOf: (response: Response) => UpstreamCallRecord["response"];
}

/**
 * Sends one call with its span, its record, its time and, if it fails, its warning. Calls at the same time count
 * once in the time that the request waits.
 *
 * @throws what `send` throws
 */
export async function instrumentCall<Response extends { readonly status: number; readonly ms: number }>(
  { service, method, path, filter, body, send, bodyOf }: InstrumentedCall<Response>,
  context: UpstreamContext,
): Promise<Response> {
  const request = { method, path, filter: filter ?? null, ...(body !== undefined && { body }) };
  const span = context.span?.call(method, path);
  const startedAt = performance.now();
  if (context.callsInProgress === 0) context.waitingSince = startedAt;
  context.callsInProgress += 1;
  try {
    const response = await send(span?.traceparent);
    const { status, ms } = response;
    span?.end(status);
    const recorded = bodyOf(response);
    context.calls.push({ ...request, status, ...(recorded && { response: recorded }), ms });
    return response;
  } catch (error) {
    span?.end(null);
    context.calls.push({ ...request, status: null, ms: performance.now() - startedAt });
    if (error instanceof UpstreamError)
      context.warnings.push(`${service} ${method} ${path}: ${error.kind}, ${error.message}`);
    throw error;
  } finally {
    context.callsInProgress -= 1;
    if (context.callsInProgress === 0) context.upstreamMs += performance.now() - context.waitingSince;
  }
}

/** A client's credentials in v4's scheme; undefined for a client without any. */
export const upstreamCredentials = ({ token }: Credentials, scheme: string): string | undefined =>
  token === undefined ? undefined : `${scheme} ${token}`;

/** In bytes. v4's response to an upload, or its error, is not read beyond. */
const LONGEST_TEXT = 1024 * 1024;

/** Passes a stream through and counts its bytes. @throws {HttpError} 400, in the stream, beyond `most` bytes */
export function countBytes(most: number, onBytes: (count: number) => void): Transform {
  let left = most;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) return done(new HttpError(400, "The body is too large."));
      onBytes(chunk.length);
      done(null, chunk);
    },
  });
}

async function readText({ status, headers, body }: StreamResponse): Promise<UpstreamResponse> {
  const limited = countBytes(LONGEST_TEXT, () => {});
  pipeline(body, limited, () => {});
  return toUpstreamResponse({ status, headers, text: await text(limited), ms: 0 });
}

const firstLine = (value: string | string[] | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** The record of a file: how many bytes were streamed by the time that the record is written. */
class StreamedBytes {
  readonly #bytes: { readonly in: number; readonly out: number };

  constructor(bytes: { readonly in: number; readonly out: number }) {
    this.#bytes = bytes;
  }

  get text(): string {
    return printJson({ streamed: this.#bytes });
  }
}

/** The request that the calls are made for, and its client's token. */
export interface CallerRequest {
  readonly request: AlphaRequest;
  readonly match: RouteMatch;
  /** Credentials as the client sent them. */
  readonly client: Credentials;
  /** The credentials for v4 in their place. */
  readonly resolved: ResolvedCredentials;
  /** Credits the address of a token that turns out to be valid. */
  readonly creditAddress: (() => Promise<void>) | undefined;
}

/** Calls v4 for one request, with the client's token. All its calls have the same headers and are recorded. */
export class UpstreamCaller {
  readonly #caller: CallerRequest;
  readonly #dependencies: CallDependencies;
  readonly #context: RequestContext;
  readonly #commonHeaders: Readonly<Record<string, string>>;
  #creditAddress: CallerRequest["creditAddress"];

  constructor(caller: CallerRequest, dependencies: CallDependencies, context: RequestContext) {
    this.#caller = caller;
    this.#dependencies = dependencies;
    this.#context = context;
    this.#creditAddress = caller.creditAddress;
    this.#commonHeaders = commonHeaders(caller.request, context.traceparent);
  }

  /**
   * Makes one call, and repeats it where v4 rejects the token and another one may do: without a token on a public
   * route, or with a token that was refreshed elsewhere. A 401 has no effect, so writes are repeated as well.
   *
   * @throws {UpstreamError} without a response; {HttpError} where the client has too many calls in progress
   */
  call(request: UpstreamRequest): Promise<UpstreamResponse> {
    return this.#invalidateCacheOnWrite(request.method, async () => {
      const { credentials } = this.#caller.resolved;
      const response = await this.#send(credentials, request);
      if (this.#mayRetryPublicly(credentials, request.method, response.status))
        return this.#send(NOBODY, request);
      return (await this.#hasNewToken(credentials, response.status))
        ? this.#send(this.#caller.resolved.credentials, request)
        : response;
    });
  }

  /**
   * The same for a file. A call with a file of the client is never repeated: the file has been consumed.
   *
   * @throws {UpstreamError} without a response; {HttpError} for a file that is too large, too slow, or one too many
   */
  stream(request: FileRequest): Promise<StreamedResponse> {
    return this.#invalidateCacheOnWrite(request.method, async () => {
      const { credentials } = this.#caller.resolved;
      const result = await this.#stream(credentials, request);
      if (request.upload !== undefined || isSuccess(result.status)) return result;
      if (this.#mayRetryPublicly(credentials, request.method, result.status))
        return this.#stream(NOBODY, request);
      return (await this.#hasNewToken(credentials, result.status))
        ? this.#stream(this.#caller.resolved.credentials, request)
        : result;
    });
  }

  async #send(
    credentials: Credentials,
    { method, path, filter, body }: UpstreamRequest,
  ): Promise<UpstreamResponse> {
    const { upstream, dialect } = this.#dependencies;
    const headers = this.#headersFor(credentials);
    if (filter !== undefined) headers[dialect.filterHeader.toLowerCase()] = filter;
    if (body !== undefined) headers["content-type"] = "application/json";
    this.#endBuildRequest();
    const send = async (traceparent: string | undefined) => {
      if (traceparent !== undefined) headers["traceparent"] = traceparent;
      const json = body === undefined ? undefined : printJson(body);
      const call = { method, path, headers, body: json, client: this.#shareClient() };
      const response = await upstream.call(call, this.#caller.request.signal);
      this.#updateTokenCache(credentials, response);
      return toUpstreamResponse(response);
    };
    try {
      return await instrumentCall(
        { service: "v4", method, path, filter, body, send, bodyOf: (response) => response },
        this.#context,
      );
    } catch (error) {
      throw this.#tooManyAtOnce(error, "requests") ?? error;
    }
  }

  async #stream(
    credentials: Credentials,
    { method, path, accept, upload, wantsFile }: FileRequest,
  ): Promise<StreamedResponse> {
    const context = this.#context;
    const bytes = (context.streamedBytes = { in: 0, out: 0 });
    const headers: Record<string, string> = { ...this.#headersFor(credentials), accept, ...upload?.headers };
    const startedAt = performance.now();
    this.#endBuildRequest();

    const readFile = ({ status, headers: sent, body }: StreamResponse): StreamedResponse => {
      const stream = countBytes(Infinity, (count) => void (bytes.out += count));
      pipeline(body, stream, (error) => {
        if (error) context.warnings.push(`v4 ${method} ${path}: the response broke off, ${error.message}`);
      });
      const type = firstLine(sent["content-type"]) ?? "";
      const length = firstLine(sent["content-length"]);
      return { status, file: { type, length, coding: firstLine(sent["content-encoding"]), stream } };
    };
    const send = async (traceparent: string | undefined) => {
      if (traceparent !== undefined) headers["traceparent"] = traceparent;
      const call = { method, path, headers, body: upload?.stream, client: this.#shareClient() };
      try {
        const response = await this.#dependencies.files.stream(call, this.#caller.request.signal);
        const ms = performance.now() - startedAt;
        this.#updateTokenCache(credentials, response);
        if (isSuccess(response.status) && wantsFile) return { ...readFile(response), ms };
        return { status: response.status, response: await readText(response), ms };
      } catch (error) {
        throw error instanceof HttpError ? error : toUpstreamError(error);
      }
    };
    try {
      return await instrumentCall(
        {
          service: "v4",
          method,
          path,
          ...(upload && { body: { streamed: bytes } }),
          send,
          bodyOf: (result) => ("response" in result ? result.response : new StreamedBytes(bytes)),
        },
        context,
      );
    } catch (error) {
      if (upload && error instanceof UpstreamError && error.kind === "slow_client")
        throw new HttpError(400, "The file took too long to arrive.");
      throw this.#tooManyAtOnce(error, "files") ?? error;
    }
  }

  #endBuildRequest(): void {
    const { stageTimes } = this.#context;
    if (stageTimes.buildRequest === 0) stageTimes.buildRequest = performance.now();
  }

  #headersFor(credentials: Credentials): Record<string, string> {
    const authorization = upstreamCredentials(credentials, this.#dependencies.dialect.scheme);
    return { ...this.#commonHeaders, ...(authorization !== undefined && { authorization }) };
  }

  /** Whose share of the connections the calls take. A token that the gateway issued stands for an accepted one. */
  #shareClient(): ShareClient {
    const { client, request, resolved } = this.#caller;
    const { accepted, tokenInfo } = this.#context;
    return {
      token: client.hash,
      address: addressNetwork(request.address),
      isKnown: accepted === true || tokenInfo?.refused === false || typeof resolved.grant === "object",
    };
  }

  /** The error of a client that has used up its own share of the connections; undefined for any other error. */
  #tooManyAtOnce(error: unknown, what: "files" | "requests"): HttpError | undefined {
    if (!(error instanceof ConnectionUnavailableError && error.isOwnShare)) return undefined;
    const { rate_limited: limited } = this.#dependencies.translation.statuses;
    return new HttpError(limited.alpha, `Too many ${what} at the same time. Try again later.`);
  }

  /** Caches what v4's response says about the token. On a public route v4 may not have looked at it. */
  #updateTokenCache(
    { hash, token }: Credentials,
    { status, headers }: Pick<UpstreamResponse, "status" | "headers">,
  ): void {
    if (hash === undefined) return;
    const { client, match } = this.#caller;
    const { tokens, scopes, dialect } = this.#dependencies;
    if (hash !== client.hash) this.#context.v4Token = token;
    const scopeList = headers[dialect.scopesHeader.toLowerCase()];
    const isChecked = match.route.access !== "public";
    if (status === 401) tokens.setRejected(hash);
    else if (scopeList !== undefined || (isChecked && isSuccess(status))) {
      this.#context.accepted = true;
      tokens.setScopes(hash, scopeList === undefined ? undefined : scopes.grants(String(scopeList)));
      // The rate limits know a client by its own token, whatever stands for that at v4.
      if (client.hash !== undefined && client.hash !== hash) tokens.setScopes(client.hash, undefined);
      // Limits may be kept elsewhere. A credit that fails there is lost until the window ends.
      void this.#creditAddress?.().catch(() => {});
      this.#creditAddress = undefined;
    }
    // Requests that wait for what this token may do go on.
    this.#context.release?.();
  }

  /** v4 looks at a token even where no token is needed, and alpha's public routes are public. */
  #mayRetryPublicly({ token }: Credentials, method: string, status: number): boolean {
    return (
      (status === 401 || status === 403) &&
      token !== undefined &&
      method === "GET" &&
      this.#caller.match.route.access === "public"
    );
  }

  async #hasNewToken(rejected: Credentials, status: number): Promise<boolean> {
    return status === 401 && (await this.#caller.resolved.refreshAfter401(rejected));
  }

  #invalidateCacheOnWrite<T>(method: string, send: () => Promise<T>): Promise<T> {
    const { hash } = this.#caller.client;
    return method === "GET" || hash === undefined
      ? send()
      : this.#dependencies.responseCache.invalidateDuring(hash, send);
  }
}

/** The `traceparent` of a request: the client's own if it is valid, or that of a new trace. */
export function traceparentOf(request: AlphaRequest): string {
  const given = header(request, "traceparent");
  return given !== undefined && parseTraceparent(given) ? given : createTraceparent();
}

/** Headers of all calls of a request. Only these are taken from the client (lesson L17). */
function commonHeaders(request: AlphaRequest, traceparent: string | undefined): Record<string, string> {
  const headers: Record<string, string> = {
    accept: "application/json",
    "accept-encoding": "identity",
    "x-request-id": request.id,
  };
  if (traceparent !== undefined) headers["traceparent"] = traceparent;
  const agent = header(request, "user-agent");
  if (agent !== undefined) headers["user-agent"] = agent;
  return headers;
}
