import { parseJson, isObject } from "../../dialect/json/parse.ts";
import { HttpError } from "../../dialect/http-error.ts";
import { isSuccess, type StatusesDefinition } from "../../dialect/statuses.ts";
import { InvalidUpstreamResponseError } from "../../pipeline/stages/build-response.ts";
import type { RequestContext } from "../../pipeline/context.ts";
import type { OAuthDefinition } from "../../mapping/schema/definition.ts";
import type { IssuedToken, RefreshCredentials } from "../stored-token.ts";
import type { TokenIssuer } from "../token-refresh.ts";
import type { StartCallSpan } from "../../observability/tracing/tracing.ts";
import type { Upstream } from "../../upstream/client.ts";
import { UpstreamError } from "../../upstream/upstream-error.ts";

/** Where a call is written down, but for those of the gateway's own, and the span that it belongs to. */
export type LoginCallContext = Pick<RequestContext, "calls" | "warnings"> & {
  upstreamMs: number;
  readonly span?: { readonly call: StartCallSpan } | undefined;
};

/** v4's login server, in its own words. Redirects are never followed and nothing is sent twice. */
export interface LoginServer extends TokenIssuer {
  /** @throws {HttpError} like the login server's. {UpstreamFault} or {UnreadableAnswer} without an answer of use. */
  exchange(
    code: string,
    credentials: Omit<RefreshCredentials, "token">,
    notes: LoginCallContext,
  ): Promise<IssuedToken>;
  /** Ends an access token. @throws as `exchange` does */
  revoke(credentials: RefreshCredentials, notes: LoginCallContext): Promise<void>;
}

export interface LoginServerOptions {
  readonly definition: OAuthDefinition;
  readonly statuses: StatusesDefinition;
  readonly upstream: Upstream;
  readonly timeoutMs: number;
  /** Of calls that no request made; undefined where no traces are wanted. */
  readonly beginCall?: StartCallSpan | undefined;
}

interface Answer {
  readonly status: number;
  /** Undefined where the body is no JSON object. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

const LONGEST_REASON = 500;

/** What fits into an `Authorization` header. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

function jsonOf(text: string): Answer["json"] {
  try {
    const value: unknown = parseJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const asText = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export function createLoginServer(options: LoginServerOptions): LoginServer {
  const { definition, statuses, upstream, timeoutMs, beginCall } = options;
  const { client, secret, token: exchanged, refresh, expire } = definition;

  /** Of a call that no request made. */
  const unread = (): LoginCallContext => ({
    calls: [],
    warnings: [],
    upstreamMs: 0,
    span: beginCall && { call: beginCall },
  });

  async function post(path: string, form: Record<string, string>, notes: LoginCallContext): Promise<Answer> {
    const span = notes.span?.call("POST", path);
    const headers = {
      ...(span && { traceparent: span.traceparent }),
      accept: "application/json",
      "accept-encoding": "identity",
      "content-type": "application/x-www-form-urlencoded",
    };
    const body = new URLSearchParams(form).toString();
    const sent = { method: "POST", path, filter: null, body: form };
    const started = performance.now();
    try {
      const { status, text, ms } = await upstream.call({ method: "POST", path, headers, body });
      span?.end(status);
      const json = jsonOf(text);
      notes.calls.push({ ...sent, status, response: { text }, ms });
      return { status, json };
    } catch (error) {
      span?.end(null);
      notes.calls.push({ ...sent, status: null, ms: performance.now() - started });
      if (error instanceof UpstreamError)
        notes.warnings.push(`login server: ${error.kind}, ${error.message}`);
      throw error;
    } finally {
      notes.upstreamMs += performance.now() - started;
    }
  }

  /** 401 stays 401, other 4xx become alpha's 400, everything else is a fault of the server (translation 5.1). */
  function refuse({ status, json }: Answer): never {
    if (status < 400 || status >= 500)
      throw new InvalidUpstreamResponseError(`the login server answered ${status}`);
    const reason = definition.reasons.map((name) => asText(json?.[name])).find((text) => text !== undefined);
    const { rate_limited: limited } = statuses;
    const kept = status === 401 ? status : statuses.other_4xx;
    throw new HttpError(
      status === limited.v4 ? limited.alpha : kept,
      reason?.slice(0, LONGEST_REASON) ?? "The request was refused.",
    );
  }

  function issuedBy({ json = {} }: Answer): IssuedToken {
    const { token, scopes, lasts, refresh: next } = exchanged.v4_answer;
    const given = scopes.map((name) => json[name]).find((value) => value !== undefined);
    const access = json[token];
    const seconds = Number(json[lasts]);
    if (typeof access !== "string" || !TOKEN.test(access) || typeof given !== "string")
      throw new InvalidUpstreamResponseError("the login server's answer holds no token, or no scopes");
    return {
      token: access,
      scopes: given,
      expiresInSeconds: Number.isFinite(seconds) && seconds > 0 ? seconds : undefined,
      refresh: asText(json[next]),
    };
  }

  /** Any other refusal (a secret that was changed, a server that is being moved) may be taken back. */
  const isFinal = ({ status, json = {} }: Answer): boolean =>
    status >= 400 && status < 500 && json[refresh.final.member] === refresh.final.value;

  const known = (of: Omit<RefreshCredentials, "token">): Record<string, string> => ({
    [client]: of.client,
    [secret]: of.secret,
  });

  async function end(
    of: RefreshCredentials,
    added: Record<string, string>,
    notes: LoginCallContext,
  ): Promise<void> {
    const answer = await post(expire.v4, { ...added, ...known(of), [expire.token]: of.token }, notes);
    if (!isSuccess(answer.status)) refuse(answer);
  }

  return {
    async exchange(code, credentials, notes) {
      const answer = await post(exchanged.v4, { ...known(credentials), [exchanged.code]: code }, notes);
      return isSuccess(answer.status) ? issuedBy(answer) : refuse(answer);
    },
    async renew(credentials) {
      const form = { ...refresh.add, ...known(credentials), [refresh.token]: credentials.token };
      const answer = await post(refresh.v4, form, unread());
      if (isSuccess(answer.status)) return issuedBy(answer);
      if (isFinal(answer)) return undefined;
      throw new InvalidUpstreamResponseError(`the login server answered ${answer.status} to a renewal`);
    },
    revoke: (credentials, notes) => end(credentials, expire.add, notes),
    async discard(issued, credentials) {
      const notes = unread();
      await end({ ...credentials, token: issued.token }, expire.add, notes).catch(() => {});
      if (issued.refresh === undefined) return;
      await end({ ...credentials, token: issued.refresh }, expire.add_refresh, notes).catch(() => {});
    },
    timeoutSeconds: Math.ceil(timeoutMs / 1000),
  };
}
