/** All calls of a request to v4: their headers, the client's token, and its errors. */
import { printJson } from "../dialect/json/parse.ts";
import { HttpError } from "../dialect/http-error.ts";
import type { Scopes } from "../dialect/scopes.ts";
import { isSuccess, type Statuses } from "../dialect/statuses.ts";
import type { TokenCache } from "../auth/token-cache.ts";
import type { Endpoint } from "../mapping/compile/endpoint.ts";
import type { JsonObject } from "../mapping/translation-context.ts";
import { createTraceparent, parseTraceparent } from "../observability/tracing/traceparent.ts";
import { addressNetwork } from "../rate-limit/client-address.ts";
import type { Upstream } from "../upstream/client.ts";
import { ConnectionUnavailableError, type ShareClient } from "../upstream/connection-shares.ts";
import { toUpstreamError, UpstreamError } from "../upstream/upstream-error.ts";
import type { FileUpstream } from "../upstream/file-client.ts";
import { header, NOBODY, type AlphaRequest, type Credentials, type RouteMatch } from "./context.ts";
import { openFile, readText, StreamedBytes, type FileRequest, type StreamedResponse } from "./file-stream.ts";
import { instrumentCall, type InstrumentedCall, type UpstreamActivity } from "./instrument-call.ts";
import type { ResponseCache } from "./response-cache.ts";
import type { ClientToken } from "./stages/authorize.ts";
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
  /** The calls that are made in place of this one, as the client is shown them. */
  readonly equivalent?: string;
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

/** How v4 names the headers of its dialect. */
export interface UpstreamDialect {
  /** Undefined if the upstream gets no token. */
  readonly scheme: string | undefined;
  readonly scopesHeader: string | undefined;
  readonly filterHeader: string | undefined;
}

export interface CallDependencies {
  readonly upstream: Upstream;
  readonly files: FileUpstream;
  readonly tokens: TokenCache;
  readonly scopes: Scopes;
  readonly dialect: UpstreamDialect;
  readonly translation: { readonly statuses: Statuses };
  readonly responseCache: ResponseCache;
}

/** A client's credentials in v4's scheme; undefined for a client without any. */
export const upstreamCredentials = ({ token }: Credentials, scheme: string | undefined): string | undefined =>
  token === undefined || scheme === undefined ? undefined : `${scheme} ${token}`;

/** The request that the calls are made for, and its client's token. */
export interface CallerRequest {
  readonly request: AlphaRequest;
  readonly match: RouteMatch;
  /** Credentials as the client sent them. */
  readonly client: Credentials;
  /** The credentials for v4 in their place. */
  readonly token: ClientToken;
  /** Credits the address of a token that turns out to be valid. */
  readonly creditAddress: (() => Promise<void>) | undefined;
}

const responseOf = (response: UpstreamResponse): UpstreamResponse => response;

/** Calls v4 for one request, with the client's token. All its calls have the same headers and are recorded. */
export class UpstreamCaller {
  /** What the calls have collected. */
  readonly activity: UpstreamActivity;
  readonly #caller: CallerRequest;
  readonly #dependencies: CallDependencies;
  readonly #commonHeaders: Readonly<Record<string, string>>;
  #creditAddress: CallerRequest["creditAddress"];

  constructor(caller: CallerRequest, dependencies: CallDependencies, activity: UpstreamActivity) {
    this.activity = activity;
    this.#caller = caller;
    this.#dependencies = dependencies;
    this.#creditAddress = caller.creditAddress;
    this.#commonHeaders = commonHeaders(caller.request, activity.traceparent);
  }

  /**
   * Makes one call, and repeats it where v4 rejects the token and another one may do: without a token on a public
   * route, or with a token that was refreshed elsewhere. A 401 has no effect, so writes are repeated as well.
   *
   * @throws {UpstreamError} without a response; {HttpError} where the client has too many calls in progress
   */
  call(request: UpstreamRequest): Promise<UpstreamResponse> {
    return this.#withRetry(request.method, true, (credentials) => this.#send(credentials, request));
  }

  /**
   * The same for a file. A call with a file of the client is never repeated: the file has been consumed.
   *
   * @throws {UpstreamError} without a response; {HttpError} for a file that is too large, too slow, or one too many
   */
  stream(request: FileRequest): Promise<StreamedResponse> {
    const isRepeatable = request.upload === undefined;
    return this.#withRetry(request.method, isRepeatable, (credentials) => this.#stream(credentials, request));
  }

  #withRetry<Response extends { readonly status: number }>(
    method: string,
    isRepeatable: boolean,
    send: (credentials: Credentials) => Promise<Response>,
  ): Promise<Response> {
    return this.#invalidateCacheOnWrite(method, async () => {
      const { resolved } = this.#caller.token;
      const { credentials } = resolved;
      const response = await send(credentials);
      const { status } = response;
      if (!isRepeatable || (status !== 401 && status !== 403)) return response;
      if (this.#mayRetryPublicly(credentials, method)) return send(NOBODY);
      const hasNewToken = status === 401 && (await resolved.refreshAfter401(credentials));
      return hasNewToken ? send(resolved.credentials) : response;
    });
  }

  #send(
    credentials: Credentials,
    { method, path, filter, body }: UpstreamRequest,
  ): Promise<UpstreamResponse> {
    const { upstream, dialect } = this.#dependencies;
    const headers = this.#headersFor(credentials);
    if (filter !== undefined && dialect.filterHeader !== undefined)
      headers[dialect.filterHeader.toLowerCase()] = filter;
    if (body !== undefined) headers["content-type"] = "application/json";
    const send = async () => {
      const json = body === undefined ? undefined : printJson(body);
      const call = { method, path, headers, body: json, client: this.#shareClient() };
      const response = await upstream.call(call, this.#caller.request.signal);
      this.#updateTokenCache(credentials, response);
      return toUpstreamResponse(response);
    };
    const call = { service: "v4", method, path, filter, body, headers, send, bodyOf: responseOf };
    return this.#instrument(call, "requests");
  }

  async #stream(
    credentials: Credentials,
    { method, path, accept, upload, wantsFile }: FileRequest,
  ): Promise<StreamedResponse> {
    const { warnings } = this.activity;
    const bytes = (this.activity.streamedBytes = { in: 0, out: 0 });
    const headers = { ...this.#headersFor(credentials), accept, ...upload?.headers };
    const startedAt = performance.now();
    const onBreak = ({ message }: Error) =>
      void warnings.push(`v4 ${method} ${path}: the response broke off, ${message}`);
    const send = async () => {
      const call = { method, path, headers, body: upload?.stream, client: this.#shareClient() };
      try {
        const response = await this.#dependencies.files.stream(call, this.#caller.request.signal);
        const ms = performance.now() - startedAt;
        this.#updateTokenCache(credentials, response);
        if (isSuccess(response.status) && wantsFile) return { ...openFile(response, bytes, onBreak), ms };
        return { status: response.status, response: await readText(response), ms };
      } catch (error) {
        throw error instanceof HttpError ? error : toUpstreamError(error);
      }
    };
    const bodyOf = (result: StreamedResponse) => (result.file ? new StreamedBytes(bytes) : result.response);
    const body = upload && { streamed: bytes };
    try {
      return await this.#instrument({ service: "v4", method, path, body, headers, send, bodyOf }, "files");
    } catch (error) {
      if (upload && error instanceof UpstreamError && error.kind === "slow_client")
        throw new HttpError(400, "The file took too long to arrive.");
      throw error;
    }
  }

  async #instrument<Response extends { readonly status: number; readonly ms: number }>(
    call: InstrumentedCall<Response>,
    what: "files" | "requests",
  ): Promise<Response> {
    try {
      return await instrumentCall(call, this.activity);
    } catch (error) {
      throw this.#tooManyAtOnce(error, what) ?? error;
    }
  }

  #headersFor(credentials: Credentials): Record<string, string> {
    const authorization = upstreamCredentials(credentials, this.#dependencies.dialect.scheme);
    return { ...this.#commonHeaders, ...(authorization !== undefined && { authorization }) };
  }

  /** Whose share of the connections the calls take. A token that the gateway issued stands for an accepted one. */
  #shareClient(): ShareClient {
    const { client, request, token } = this.#caller;
    return {
      token: client.hash,
      address: addressNetwork(request.address),
      isKnown: this.activity.isTokenAccepted || token.isAccepted,
    };
  }

  /** The error of a client that has used up its own share of the connections; undefined for any other error. */
  #tooManyAtOnce(error: unknown, what: "files" | "requests"): HttpError | undefined {
    if (!(error instanceof ConnectionUnavailableError && error.isOwnShare)) return undefined;
    const { limited } = this.#dependencies.translation.statuses;
    return new HttpError(limited, `Too many ${what} at the same time. Try again later.`);
  }

  /** Caches what v4's response says about the token. On a public route v4 may not have looked at it. */
  #updateTokenCache(
    { hash, token }: Credentials,
    { status, headers }: Pick<UpstreamResponse, "status" | "headers">,
  ): void {
    if (hash === undefined) return;
    const { client, match } = this.#caller;
    const { tokens, scopes, dialect } = this.#dependencies;
    if (hash !== client.hash) this.activity.v4Token = token;
    const scopeList = dialect.scopesHeader && headers[dialect.scopesHeader.toLowerCase()];
    const isChecked = match.route.access !== "public";
    if (status === 401) tokens.setRejected(hash);
    else if (scopeList !== undefined || (isChecked && isSuccess(status))) {
      this.activity.isTokenAccepted = true;
      tokens.setScopes(hash, scopeList === undefined ? undefined : scopes.grants(String(scopeList)));
      // The rate limits know a client by its own token, whatever stands for that at v4.
      if (client.hash !== undefined && client.hash !== hash) tokens.setScopes(client.hash, undefined);
      // Limits may be kept elsewhere. A credit that fails there is lost until the window ends.
      void this.#creditAddress?.().catch(() => {});
      this.#creditAddress = undefined;
    }
    // Requests that wait for what this token may do go on.
    this.#caller.token.release?.();
  }

  /** v4 looks at a token even where no token is needed, and alpha's public routes are public. */
  #mayRetryPublicly({ token }: Credentials, method: string): boolean {
    return token !== undefined && method === "GET" && this.#caller.match.route.access === "public";
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
