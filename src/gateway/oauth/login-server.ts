import { randomUUID } from "node:crypto";
import { isObject, parseJson, type StartCallSpan } from "../../base/index.ts";
import {
  isSuccess,
  meaningOf,
  type OAuthDefinition,
  type Statuses,
  TOO_MANY_REQUESTS,
  TranslatedError,
} from "../../pack/index.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";
import { instrumentCall, UpstreamActivity } from "../calls/instrument-call.ts";
import type { IssuedToken, RefreshCredentials } from "../auth/stored-token.ts";
import type { TokenIssuer } from "../auth/token-refresh.ts";
import type { Upstream } from "../upstream/http-call.ts";

interface LoginServerOptions {
  readonly definition: OAuthDefinition;
  readonly statuses: Statuses;
  readonly upstream: Upstream;
  readonly timeoutMs: number;
  /** Starts spans of calls that belong to no client's request. Undefined if tracing is off. */
  readonly startCall?: StartCallSpan | undefined;
}

interface LoginResponse {
  readonly status: number;
  /** The parsed body; undefined if it is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

const LONGEST_REASON = 500;

/** Matches a token that an `Authorization` header may contain. */
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

/** The client of v4's login server. Redirects are never followed, and nothing is retried. */
export class LoginServer implements TokenIssuer {
  readonly timeoutSeconds: number;
  readonly #options: LoginServerOptions;

  constructor(options: LoginServerOptions) {
    this.#options = options;
    this.timeoutSeconds = Math.ceil(options.timeoutMs / 1000);
  }

  /** Returns the same login server with the statuses of a different pack. */
  withStatuses(statuses: Statuses): LoginServer {
    return new LoginServer({ ...this.#options, statuses });
  }

  /**
   * Exchanges a code for a token.
   *
   * @throws {HttpError} if the login server rejects it. {UpstreamError} if there is no response,
   *   {InvalidUpstreamResponseError} if it can't be used.
   */
  async exchange(
    code: string,
    credentials: Omit<RefreshCredentials, "token">,
    activity: UpstreamActivity,
  ): Promise<IssuedToken> {
    const { token } = this.#options.definition;
    const form = { ...this.#clientForm(credentials), [token.code]: code };
    const response = await this.#post(token.upstream, form, activity);
    return isSuccess(response.status) ? this.#readToken(response) : this.#throwError(response);
  }

  async refresh(credentials: RefreshCredentials): Promise<IssuedToken | undefined> {
    const { refresh } = this.#options.definition;
    const form = { ...refresh.set, ...this.#clientForm(credentials), [refresh.token]: credentials.token };
    const response = await this.#post(refresh.upstream, form, this.#createBackgroundActivity());
    const { status, json = {} } = response;
    if (isSuccess(status)) return this.#readToken(response);
    // Other errors, such as a changed secret or a server that is being moved, may be temporary.
    const isFinal = json[refresh.final_error.member] === refresh.final_error.value;
    if (isFinal && status >= 400 && status < 500) return undefined;
    throw new InvalidUpstreamResponseError(`the login server responded with ${status} to a refresh`);
  }

  /** Revokes an access token. @throws like {@link exchange} */
  async revoke(credentials: RefreshCredentials, activity: UpstreamActivity): Promise<void> {
    const response = await this.#postRevocation(credentials, this.#options.definition.revoke.set, activity);
    if (!isSuccess(response.status)) this.#throwError(response);
  }

  /**
   * Whether the login server accepts the id and the secret of an application. It must accept the revocation of an
   * unknown token, which is not an error (RFC 7009 2.2), and must reject the same call with a wrong secret.
   *
   * @throws like {@link exchange} if the login server fails
   */
  async authenticate(
    application: Omit<RefreshCredentials, "token">,
    activity: UpstreamActivity,
  ): Promise<boolean> {
    if (!(await this.#mayRevoke(application, activity))) return false;
    // A server that accepts any secret proves nothing.
    return !(await this.#mayRevoke({ ...application, secret: randomUUID() }, activity));
  }

  async #mayRevoke(
    application: Omit<RefreshCredentials, "token">,
    activity: UpstreamActivity,
  ): Promise<boolean> {
    const { set } = this.#options.definition.revoke;
    const response = await this.#postRevocation({ ...application, token: randomUUID() }, set, activity);
    const { status } = response;
    if (isSuccess(status)) return true;
    if (status >= 400 && status < 500 && status !== TOO_MANY_REQUESTS) return false;
    return this.#throwError(response);
  }

  async discard(issued: IssuedToken, credentials: RefreshCredentials): Promise<void> {
    const { set, set_for_refresh: setForRefresh } = this.#options.definition.revoke;
    const activity = this.#createBackgroundActivity();
    await this.#postRevocation({ ...credentials, token: issued.token }, set, activity).catch(() => {});
    if (issued.refresh === undefined) return;
    const refresh = { ...credentials, token: issued.refresh };
    await this.#postRevocation(refresh, setForRefresh, activity).catch(() => {});
  }

  #postRevocation(
    credentials: RefreshCredentials,
    added: Record<string, string>,
    activity: UpstreamActivity,
  ): Promise<LoginResponse> {
    const { token, upstream } = this.#options.definition.revoke;
    const form = { ...added, ...this.#clientForm(credentials), [token]: credentials.token };
    return this.#post(upstream, form, activity);
  }

  /** Creates the activity of a call that belongs to no client's request. */
  #createBackgroundActivity(): UpstreamActivity {
    return new UpstreamActivity([], this.#options.startCall);
  }

  #clientForm({ client, secret }: Omit<RefreshCredentials, "token">): Record<string, string> {
    const { client_id: clientName, client_secret: secretName } = this.#options.definition;
    return { [clientName]: client, [secretName]: secret };
  }

  async #post(
    path: string,
    form: Record<string, string>,
    activity: UpstreamActivity,
  ): Promise<LoginResponse> {
    const method = "POST";
    const headers = {
      accept: "application/json",
      "accept-encoding": "identity",
      "content-type": "application/x-www-form-urlencoded",
    };
    const body = new URLSearchParams(form).toString();
    const send = () => this.#options.upstream.call({ method, path, headers, body });
    const bodyOf = ({ bytes }: { readonly bytes: Buffer }) => ({ bytes });
    const call = { service: "login server", method, path, body: form, headers, send, bodyOf };
    const { status, bytes } = await instrumentCall(call, activity);
    return { status, json: parseObjectOrUndefined(bytes.toString()) };
  }

  /**
   * Throws the error for a response: 401 stays 401, other 4xx become alpha's 400, and all others are failures of the
   * server (T-5.1).
   */
  #throwError({ status, json }: LoginResponse): never {
    const { definition, statuses } = this.#options;
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

  #readToken({ json = {} }: LoginResponse): IssuedToken {
    const names = this.#options.definition.token.upstream_response;
    const scopes = names.scopes.map((name) => json[name]).find((value) => value !== undefined);
    const token = json[names.token];
    const seconds = Number(json[names.expires_in]);
    if (typeof token !== "string" || !TOKEN.test(token) || typeof scopes !== "string")
      throw new InvalidUpstreamResponseError("the login server's response has no token, or no scopes");
    return {
      token,
      scopes,
      expiresInSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : undefined,
      refresh: asText(json[names.refresh_token]),
    };
  }
}
