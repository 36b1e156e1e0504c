/** All calls of a request to v4: their headers, the client's token, and its errors. */
import { addressNetworks } from "../../base/index.ts";
import { HttpError, isSuccess, type Pack, TOO_MANY_REQUESTS } from "../../pack/index.ts";
import type { TokenCache } from "../auth/token-cache.ts";
import type { UpstreamTokens } from "../auth/upstream-tokens.ts";
import type { Upstream } from "../upstream/http-call.ts";
import { ConnectionUnavailableError } from "../upstream/connection-shares.ts";
import type { ShareClient } from "../upstream/share-usage.ts";
import { isCausedByClient, toUpstreamError, UpstreamError } from "../upstream/upstream-error.ts";
import type { FileUpstream } from "../upstream/http-call.ts";
import { NOBODY, type CallAccess, type Credentials, type ClientToken } from "../request/client.ts";
import type { AlphaRequest } from "../request/request.ts";
import {
  openFile,
  readResponse,
  StreamedBytes,
  type FileRequest,
  type StreamedResponse,
} from "./file-stream.ts";
import type { JudgeToken } from "../auth/judge-token.ts";
import { commonHeaders } from "./call-headers.ts";
import { instrumentCall, type InstrumentedCall, type UpstreamActivity } from "./instrument-call.ts";
import type { UpstreamRequest } from "./prepared-request.ts";
import type { ResponseCache } from "./response-cache.ts";
import {
  InvalidUpstreamResponseError,
  toUpstreamResponse,
  type UpstreamResponse,
} from "./upstream-response.ts";

export interface CallDependencies {
  readonly upstream: Upstream;
  readonly files: FileUpstream;
  readonly tokens: TokenCache;
  readonly judgeToken: JudgeToken;
  readonly pack: Pack;
  readonly responseCache: ResponseCache;
  /** The listed v4 tokens; undefined if the clients' tokens are sent to v4. */
  readonly upstreamTokens?: UpstreamTokens | undefined;
}

/** Maximum number of bytes of all responses for one request. They stay in memory until it ends, for its record. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The request of the calls, and its client's token. */
export interface CallerRequest {
  readonly request: AlphaRequest;
  readonly match: CallAccess;
  /** Credentials as the client sent them. */
  readonly client: Credentials;
  /** The credentials for v4 that replace them. */
  readonly token: ClientToken;
  /** Headers of the client's request that all calls contain. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Refunds a request to the address if its token turns out to be valid. */
  readonly creditAddress: (() => Promise<void>) | undefined;
}

/** Calls v4 for one request, with the client's token. All its calls have the same headers and are recorded. */
export class UpstreamCaller {
  /** The results of the calls. */
  readonly activity: UpstreamActivity;
  readonly #caller: CallerRequest;
  readonly #dependencies: CallDependencies;
  readonly #commonHeaders: Readonly<Record<string, string>>;
  #creditAddress: CallerRequest["creditAddress"];
  /** Number of bytes of the responses so far. */
  #bytes = 0;

  constructor(caller: CallerRequest, dependencies: CallDependencies, activity: UpstreamActivity) {
    this.activity = activity;
    this.#caller = caller;
    this.#dependencies = dependencies;
    this.#creditAddress = caller.creditAddress;
    this.#commonHeaders = commonHeaders(
      caller.request,
      activity.traceparent,
      dependencies.pack.upstreamHeaders,
      caller.headers,
    );
  }

  /**
   * Makes one call. If v4 rejects the token, it repeats the call without a token on a public route, or with a token
   * that another process has refreshed. A rejected write had no effect, so writes are repeated as well.
   *
   * @throws {UpstreamError} if there is no response, or the responses of the request are too large in total;
   *   {HttpError} if the client has too many calls in progress
   */
  call(request: UpstreamRequest): Promise<UpstreamResponse> {
    const { method, search } = request;
    if (!search) return this.#withRetry(method, true, (credentials) => this.#send(credentials, request));
    const { path, filter } = request;
    const format = { rules: search.format, path: {} };
    const moved = { ...search.move({ path, filter }), method, format };
    return this.#withRetry("GET", true, (credentials) => this.#send(credentials, moved));
  }

  /**
   * Makes a call with a file, like {@link call}. A call with a file of the client is never repeated, because the file
   * has been consumed.
   *
   * @throws {UpstreamError} if there is no response; {HttpError} for a file that is too large or too slow, or if the
   *   client sends too many files
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
      if (status === 401 && this.#gatewayToken !== undefined)
        throw new InvalidUpstreamResponseError(`${this.#service} rejects the token of UPSTREAM_TOKEN`);
      if (!isRepeatable || (status !== 401 && status !== 403)) return response;
      if (this.#mayRetryPublicly(credentials, method)) return send(NOBODY);
      const hasNewToken = status === 401 && (await resolved.refreshAfter401(credentials));
      return hasNewToken ? send(resolved.credentials) : response;
    });
  }

  #send(
    credentials: Credentials,
    { method, path, filter, headers: passed, body: object, format, signal }: UpstreamRequest,
  ): Promise<UpstreamResponse> {
    const { upstream, pack } = this.#dependencies;
    const filterHeader = pack.dialect.upstream.filters?.header;
    const { headers, secretQuery } = this.#headFor(credentials);
    // The gateway's own headers take precedence.
    for (const name in passed) headers[name] ??= passed[name] ?? "";
    if (filter !== undefined && filterHeader !== undefined) headers[filterHeader.toLowerCase()] = filter;
    const body = object && format?.rules.wrap(object, format.path);
    if (body !== undefined && format) headers["content-type"] = format.rules.mediaType;
    const text = body === undefined ? undefined : format?.rules.print(body);
    const send = async () => {
      const call = { method, path, secretQuery, headers, body: text, client: this.#shareClient() };
      const response = await upstream.call(call, signal ?? this.#caller.request.signal);
      this.#learn(credentials, call, response);
      this.#bytes += response.bytes.length;
      if (this.#bytes > MOST_BYTES)
        throw new UpstreamError("too_large", `the responses have more than ${MOST_BYTES} bytes`);
      return toUpstreamResponse(response);
    };
    const bodyOf = (response: UpstreamResponse) => response;
    const call = { service: this.#service, method, path, filter, body, headers, send, bodyOf };
    return this.#instrument(call, "requests");
  }

  async #stream(
    credentials: Credentials,
    { method, path, accept, upload, wantsFile }: FileRequest,
  ): Promise<StreamedResponse> {
    const { warnings } = this.activity;
    const bytes = (this.activity.streamedBytes = { in: 0, out: 0 });
    const { headers: common, secretQuery } = this.#headFor(credentials);
    const headers = { ...common, accept, ...upload?.headers };
    const startedAt = performance.now();
    const onBreak = ({ message }: Error) =>
      void warnings.push(`${this.#service} ${method} ${path}: the response broke off, ${message}`);
    const send = async () => {
      const call = { method, path, secretQuery, headers, body: upload?.stream, client: this.#shareClient() };
      try {
        const response = await this.#dependencies.files.stream(call, this.#caller.request.signal);
        const ms = performance.now() - startedAt;
        this.#learn(credentials, call, response);
        if (isSuccess(response.status) && wantsFile)
          return { ...(await openFile(response, bytes, onBreak)), ms };
        return { status: response.status, response: await readResponse(response), ms };
      } catch (error) {
        throw error instanceof HttpError ? error : toUpstreamError(error);
      }
    };
    const bodyOf = (result: StreamedResponse) => (result.file ? new StreamedBytes(bytes) : result.response);
    const body = upload && { streamed: bytes };
    try {
      return await this.#instrument(
        { service: this.#service, method, path, body, headers, send, bodyOf },
        "files",
      );
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
      // The client has used up its share of the connections.
      if (error instanceof ConnectionUnavailableError && error.isOwnShare)
        throw new HttpError(TOO_MANY_REQUESTS, `Too many ${what} at the same time. Try again later.`, {
          by: "limit",
        });
      if (error instanceof UpstreamError && !isCausedByClient(error)) this.#creditAddressOnce();
      throw error;
    }
  }

  /** The name of v4 in warnings. */
  get #service(): string {
    return this.#dependencies.pack.dialect.upstream.name;
  }

  get #gatewayToken(): string | undefined {
    return this.#dependencies.upstreamTokens?.gatewayToken;
  }

  /** Returns the headers of a call, and its query parameter for the token if v4 reads the token there. */
  #headFor({ token: given }: Credentials) {
    const { upstream: format } = this.#dependencies.pack.credentials;
    const token = given ?? this.#gatewayToken;
    if (token === undefined || !format)
      return { headers: { ...this.#commonHeaders }, secretQuery: undefined };
    this.activity.v4Token = token;
    const { headers, query } = format.write(token);
    return { headers: { ...this.#commonHeaders, ...headers }, secretQuery: query };
  }

  /** The client whose share of the connections the calls use. A token that the gateway issued is treated as accepted. */
  #shareClient(): ShareClient {
    const { client, request, token } = this.#caller;
    return {
      token: client.hash,
      networks: addressNetworks(request.address),
      isKnown: this.activity.isTokenAccepted || token.isAccepted,
    };
  }

  /** Caches the information about the token in v4's response. */
  #learn(
    { hash }: Credentials,
    { method, path }: Pick<UpstreamRequest, "method" | "path">,
    response: Pick<UpstreamResponse, "status" | "headers">,
  ): void {
    if (hash === undefined) return;
    const { client, match } = this.#caller;
    const { tokens, judgeToken } = this.#dependencies;
    const verdict = judgeToken({ method, path, access: match.route.access }, response);
    if (verdict.says === "accepted") {
      this.activity.isTokenAccepted = true;
      tokens.setScopes(hash, verdict.grants);
      // Rate limits use the client's own token, regardless of the token for v4.
      if (client.hash !== undefined && client.hash !== hash) tokens.setScopes(client.hash, undefined);
      this.#creditAddressOnce();
    } else if (verdict.says === "nothing") {
      // After any other response, v4 may still reject the token in a later call of this request.
      if (verdict.hasFailed) this.#creditAddressOnce();
    } else if (this.#gatewayToken === undefined) tokens.setRejected(hash);
    // Requests that wait for the information about this token continue.
    this.#caller.token.release?.();
  }

  /** Refunds the request that was counted against the address, because its token is valid or v4 has failed. */
  #creditAddressOnce(): void {
    // Limits may be stored in another process. If a refund fails there, it is lost until the window ends.
    void this.#creditAddress?.().catch(() => {});
    this.#creditAddress = undefined;
  }

  /**
   * Whether to repeat a call without its token: v4 checks a token even if none is required, but alpha's public routes
   * are public.
   */
  #mayRetryPublicly({ token }: Credentials, method: string): boolean {
    const isPublic = method === "GET" && this.#caller.match.route.access === "public";
    return isPublic && token !== undefined && this.#gatewayToken === undefined;
  }

  #invalidateCacheOnWrite<T>(method: string, send: () => Promise<T>): Promise<T> {
    const { hash } = this.#caller.client;
    return method === "GET" || hash === undefined
      ? send()
      : this.#dependencies.responseCache.invalidateDuring(hash, send);
  }
}
