import { isSuccess } from "../../dialect/statuses.ts";
import { parseJson, printJson } from "../../dialect/json/parse.ts";
import type { JsonObject } from "../../mapping/translation-context.ts";
import type { TokenCache } from "../../auth/token-cache.ts";
import type { Scopes } from "../../dialect/scopes.ts";
import type { Upstream, HttpResponse } from "../../upstream/client.ts";
import { ConnectionUnavailableError, type ShareClient } from "../../upstream/connection-shares.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";
import { HttpError } from "../../dialect/http-error.ts";
import { addressNetwork } from "../../rate-limit/client-address.ts";
import { header, NOBODY, type AlphaRequest, type Credentials, type RequestContext } from "../context.ts";
import { InvalidUpstreamResponseError, type TranslationConfig } from "./build-response.ts";
import type { ResolvedCredentials } from "./resolve-token.ts";

/** One call to v4, in v4's words. */
export interface UpstreamRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  /** Value of the filter header. */
  readonly filter?: string | undefined;
  readonly body?: JsonObject | undefined;
}

/** What v4 said to it. */
export interface UpstreamResponse {
  readonly status: number;
  readonly success: boolean;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as it came; empty where there was none. */
  readonly text: string;
  /** The same in UTF-8, where it is at hand. */
  readonly bytes?: Buffer | undefined;
  /** The JSON in it, read when it is asked for; undefined where there was no body, or none that is JSON. */
  readonly json: unknown;
  /** Whether the text is JSON to its end; undefined while nobody has gone over it. */
  isValidJson?: boolean | undefined;
}

export interface UpstreamDialect {
  readonly scheme: string;
  readonly scopesHeader: string;
  readonly filterHeader: string;
}

/** Makes the calls of one request. All of them bear the same headers and are written down. */
export type CallUpstream = (call: UpstreamRequest) => Promise<UpstreamResponse>;

export interface CallDependencies {
  readonly upstream: Upstream;
  readonly tokens: TokenCache;
  readonly scopes: Scopes;
  readonly dialect: UpstreamDialect;
  readonly translation: Pick<TranslationConfig, "statuses">;
}

/** Whose share of the connections a request takes. A token that stands for one of v4's is v4's own. */
export const shareClient = (
  request: AlphaRequest,
  { grant }: ResolvedCredentials,
  { credentials, tokenInfo, accepted }: RequestContext,
): ShareClient => ({
  token: credentials?.hash,
  address: addressNetwork(request.address),
  isKnown: accepted === true || tokenInfo?.refused === false || typeof grant === "object",
});

/** What a client is told whose own share of the connections was used up; undefined for any other failure. */
export const ownShareRefusal = (
  error: unknown,
  what: "files" | "requests",
  { statuses }: Pick<TranslationConfig, "statuses">,
): HttpError | undefined =>
  error instanceof ConnectionUnavailableError && error.isOwnShare
    ? new HttpError(statuses.rate_limited.alpha, `Too many ${what} at the same time. Try again later.`)
    : undefined;

/** A client's credentials in v4's scheme; undefined for a client without any. */
export const upstreamCredentials = ({ token }: Credentials, scheme: string): string | undefined =>
  token === undefined ? undefined : `${scheme} ${token}`;

/** Headers that every call of a request bears: made anew, nothing of the client's but what is named here (lesson L17). */
export function commonHeaders(
  request: AlphaRequest,
  { traceparent }: RequestContext,
): Record<string, string> {
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

/** The header that says who is calling; nothing for a client without a token. */
export function authorization(caller: Credentials, { scheme }: UpstreamDialect): Record<string, string> {
  const credentials = upstreamCredentials(caller, scheme);
  return credentials === undefined ? {} : { authorization: credentials };
}

/** v4's refusals are small; in a longer one nobody looks for reasons. In characters. */
const LONGEST_REFUSAL = 262_144;

/** More values than any response that is parsed: a page has at most some thousand objects. */
const MOST_JSON_VALUES = 200_000;

/** @throws {InvalidUpstreamResponseError} For JSON that is nested too deeply or has too many values. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text, { maxValues: MOST_JSON_VALUES });
  } catch (error) {
    if (error instanceof RangeError)
      throw new InvalidUpstreamResponseError(`v4's response is not JSON that can be read: ${error.message}`);
    return undefined;
  }
}

/**
 * Most answers are translated as text: their JSON is read for rules that look into it, once. A class, since a getter
 * in a literal gives each object a shape of its own, which keeps text and JSON alive until the next full collection.
 */
class Answered implements UpstreamResponse {
  readonly status: number;
  readonly success: boolean;
  readonly headers: UpstreamResponse["headers"];
  readonly text: string;
  readonly bytes: Buffer | undefined;
  isValidJson: boolean | undefined;
  #json: unknown;
  #read: boolean;

  constructor({ status, headers, text, bytes }: HttpResponse) {
    this.status = status;
    this.success = isSuccess(status);
    this.headers = headers;
    this.text = text;
    this.bytes = bytes;
    this.#read = text === "";
  }

  get json(): unknown {
    if (!this.#read && (this.success || this.text.length <= LONGEST_REFUSAL)) this.#json = jsonOf(this.text);
    this.#read = true;
    return this.#json;
  }
}

export const toUpstreamResponse = (answer: HttpResponse): UpstreamResponse => new Answered(answer);

/** What v4's answer tells about the token that it was asked with. On a public route v4 may not have looked at it. */
export function updateTokenCache(
  { tokens, scopes, dialect }: CallDependencies,
  { hash, token }: Credentials,
  notes: RequestContext,
  { status, headers }: Pick<UpstreamResponse, "status" | "headers">,
): void {
  if (hash === undefined) return;
  if (hash !== notes.credentials?.hash) notes.v4Token = token;
  const given = headers[dialect.scopesHeader.toLowerCase()];
  const looked = notes.match?.route.access !== "public";
  if (status === 401) tokens.setRejected(hash);
  else if (given !== undefined || (looked && isSuccess(status))) {
    notes.accepted = true;
    tokens.setScopes(hash, given === undefined ? undefined : scopes.grants(String(given)));
    // The limits know a client by its own token, whatever stands for that at v4.
    const own = notes.credentials?.hash;
    if (own !== undefined && own !== hash) tokens.setScopes(own, undefined);
    // Counts are kept elsewhere, perhaps; what can't be taken back there is gone when the window ends.
    void notes.creditAddress?.().catch(() => {});
    notes.creditAddress = undefined;
  }
  notes.releaseTokenLock?.();
}

/**
 * Whether to ask once more without the token: alpha's public routes are public, and v4 looks at a token that comes
 * along. Nothing has been done yet, and nothing is but read.
 */
export const asksPublicly = (
  { match: target }: RequestContext,
  { token }: Credentials,
  { method }: Pick<UpstreamRequest, "method">,
  status: number,
): boolean =>
  (status === 401 || status === 403) &&
  token !== undefined &&
  method === "GET" &&
  target?.route.access === "public";

/** Prepares v4's calls for one request. */
export function createUpstreamCaller(
  request: AlphaRequest,
  presented: ResolvedCredentials,
  parts: CallDependencies,
  notes: RequestContext,
): CallUpstream {
  const { upstream, dialect } = parts;
  const common = commonHeaders(request, notes);

  let underWay = 0;
  let waitingSince = 0;

  /** Time spent waiting for v4: calls at the same time count once. */
  function begin(): void {
    if (underWay === 0) waitingSince = performance.now();
    underWay += 1;
  }
  function end(): void {
    underWay -= 1;
    if (underWay === 0) notes.upstreamMs += performance.now() - waitingSince;
  }

  async function callAs(
    caller: Credentials,
    { method, path, filter, body }: UpstreamRequest,
  ): Promise<UpstreamResponse> {
    const headers = { ...common, ...authorization(caller, dialect) };
    if (filter !== undefined) headers[dialect.filterHeader.toLowerCase()] = filter;
    if (body !== undefined) headers["content-type"] = "application/json";
    const sent = { method, path, filter: filter ?? null, ...(body !== undefined && { body }) };
    const span = notes.span?.call(method, path);
    if (span) headers["traceparent"] = span.traceparent;
    const started = performance.now();
    if (notes.stageTimes.buildRequest === 0) notes.stageTimes.buildRequest = started;
    begin();
    try {
      const text = body === undefined ? undefined : printJson(body);
      const client = shareClient(request, presented, notes);
      const answer = await upstream.call({ method, path, headers, body: text, client }, request.signal);
      span?.end(answer.status);
      updateTokenCache(parts, caller, notes, answer);
      const came = toUpstreamResponse(answer);
      notes.calls.push({ ...sent, status: answer.status, response: came, ms: answer.ms });
      return came;
    } catch (error) {
      span?.end(null);
      notes.calls.push({ ...sent, status: null, ms: performance.now() - started });
      if (error instanceof UpstreamError)
        notes.warnings.push(`v4 ${method} ${path}: ${error.kind}, ${error.message}`);
      throw ownShareRefusal(error, "requests", parts.translation) ?? error;
    } finally {
      end();
    }
  }

  return async function callV4(call) {
    const { credentials: caller } = presented;
    const came = await callAs(caller, call);
    if (asksPublicly(notes, caller, call, came.status)) return callAs(NOBODY, call);
    // A 401 has done nothing, so that writes are sent again as well.
    const again = came.status === 401 && (await presented.refreshAfter401(caller));
    return again ? callAs(presented.credentials, call) : came;
  };
}
