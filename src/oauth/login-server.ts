import { parseJson, isObject } from "../dialect/json/parse.ts";
import { TranslatedError } from "../dialect/http-error.ts";
import { isSuccess, meaningOf, TOO_MANY_REQUESTS, type Statuses } from "../dialect/statuses.ts";
import { InvalidUpstreamResponseError } from "../pipeline/upstream-response.ts";
import {
  createUpstreamActivity,
  instrumentCall,
  type UpstreamActivity,
} from "../pipeline/instrument-call.ts";
import type { OAuthDefinition } from "../mapping/schema/oauth-definition.ts";
import type { IssuedToken, RefreshCredentials } from "../auth/stored-token.ts";
import type { TokenIssuer } from "../auth/token-refresh.ts";
import type { StartCallSpan } from "../observability/tracing/tracing.ts";
import type { Upstream } from "../upstream/client.ts";

/** The client of v4's login server. Redirects are never followed, and nothing is retried. */
export interface LoginServer extends TokenIssuer {
  /**
   * Exchanges a code for a token.
   *
   * @throws {HttpError} if the login server rejects it. {UpstreamError} without a response,
   *   {InvalidUpstreamResponseError} without a usable one.
   */
  exchange(
    code: string,
    credentials: Omit<RefreshCredentials, "token">,
    activity: UpstreamActivity,
  ): Promise<IssuedToken>;
  /** Revokes an access token. @throws like {@link exchange} */
  revoke(credentials: RefreshCredentials, activity: UpstreamActivity): Promise<void>;
}

export interface LoginServerOptions {
  readonly definition: OAuthDefinition;
  readonly statuses: Statuses;
  readonly upstream: Upstream;
  readonly timeoutMs: number;
  /** Starts spans of calls that belong to no client's request; undefined without tracing. */
  readonly startCall?: StartCallSpan | undefined;
}

interface LoginResponse {
  readonly status: number;
  /** Undefined where the body is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

const LONGEST_REASON = 500;

/** What fits into an `Authorization` header. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

function parseObjectOrUndefined(text: string): LoginResponse["json"] {
  try {
    const value: unknown = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const asText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Creates the client of v4's login server. */
export function createLoginServer(options: LoginServerOptions): LoginServer {
  const { definition, statuses, upstream, timeoutMs, startCall } = options;
  const {
    client_id: client,
    client_secret: secret,
    token: tokenNames,
    refresh,
    revoke: revocation,
  } = definition;

  /** For a call that no request makes. */
  const createBackgroundActivity = (): UpstreamActivity => createUpstreamActivity([], startCall);

  async function post(
    path: string,
    form: Record<string, string>,
    activity: UpstreamActivity,
  ): Promise<LoginResponse> {
    const headers = {
      accept: "application/json",
      "accept-encoding": "identity",
      "content-type": "application/x-www-form-urlencoded",
    };
    const send = () =>
      upstream.call({ method: "POST", path, headers, body: new URLSearchParams(form).toString() });
    const { status, bytes } = await instrumentCall(
      {
        service: "login server",
        method: "POST",
        path,
        body: form,
        headers,
        send,
        bodyOf: (response) => ({ bytes: response.bytes }),
      },
      activity,
    );
    return { status, json: parseObjectOrUndefined(bytes.toString()) };
  }

  /** 401 stays 401, other 4xx become alpha's 400, everything else is a failure of the server (T-5.1). */
  function throwError({ status, json }: LoginResponse): never {
    if (status < 400 || status >= 500)
      throw new InvalidUpstreamResponseError(`the login server responded with ${status}`);
    const reason = definition.error_messages
      .map((name) => asText(json?.[name]))
      .find((text) => text !== undefined);
    throw new TranslatedError(
      status === 401 || status === TOO_MANY_REQUESTS ? statuses.translate(status) : statuses.invalid,
      reason?.slice(0, LONGEST_REASON) ?? "The request was refused.",
      { meaning: meaningOf(status) },
    );
  }

  function readToken({ json = {} }: LoginResponse): IssuedToken {
    const { token, scopes, expires_in: lifetime, refresh_token: refreshToken } = tokenNames.upstream_response;
    const scopeList = scopes.map((name) => json[name]).find((value) => value !== undefined);
    const access = json[token];
    const seconds = Number(json[lifetime]);
    if (typeof access !== "string" || !TOKEN.test(access) || typeof scopeList !== "string")
      throw new InvalidUpstreamResponseError("the login server's response has no token, or no scopes");
    return {
      token: access,
      scopes: scopeList,
      expiresInSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : undefined,
      refresh: asText(json[refreshToken]),
    };
  }

  /** Other errors (a secret that was changed, a server that is being moved) may pass. */
  const isFinal = ({ status, json = {} }: LoginResponse): boolean =>
    status >= 400 && status < 500 && json[refresh.final_error.member] === refresh.final_error.value;

  const clientForm = (credentials: Omit<RefreshCredentials, "token">): Record<string, string> => ({
    [client]: credentials.client,
    [secret]: credentials.secret,
  });

  async function revoke(
    credentials: RefreshCredentials,
    added: Record<string, string>,
    activity: UpstreamActivity,
  ): Promise<void> {
    const form = { ...added, ...clientForm(credentials), [revocation.token]: credentials.token };
    const response = await post(revocation.upstream, form, activity);
    if (!isSuccess(response.status)) throwError(response);
  }

  return {
    async exchange(code, credentials, activity) {
      const form = { ...clientForm(credentials), [tokenNames.code]: code };
      const response = await post(tokenNames.upstream, form, activity);
      return isSuccess(response.status) ? readToken(response) : throwError(response);
    },
    async refresh(credentials) {
      const form = { ...refresh.set, ...clientForm(credentials), [refresh.token]: credentials.token };
      const response = await post(refresh.upstream, form, createBackgroundActivity());
      if (isSuccess(response.status)) return readToken(response);
      if (isFinal(response)) return undefined;
      throw new InvalidUpstreamResponseError(
        `the login server responded with ${response.status} to a refresh`,
      );
    },
    revoke: (credentials, activity) => revoke(credentials, revocation.set, activity),
    async discard(issued, credentials) {
      const activity = createBackgroundActivity();
      await revoke({ ...credentials, token: issued.token }, revocation.set, activity).catch(() => {});
      if (issued.refresh === undefined) return;
      await revoke({ ...credentials, token: issued.refresh }, revocation.set_for_refresh, activity).catch(
        () => {},
      );
    },
    timeoutSeconds: Math.ceil(timeoutMs / 1000),
  };
}
