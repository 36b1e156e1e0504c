/** The calls of the client's API to the login server. */
import {
  HttpError,
  type OAuthDefinition,
  type Pack,
  readParameters,
  TOO_MANY_REQUESTS,
} from "../../pack/index.ts";
import type { HandlerResult } from "../request/response.ts";
import type { RequestContext } from "../request/context.ts";
import type { AlphaRequest } from "../request/request.ts";
import type { RequestedScopes } from "./requested-scopes.ts";
import { printJson } from "../../base/index.ts";
import type { UpstreamActivity } from "../calls/instrument-call.ts";
import { applicationOwner } from "../auth/stored-token.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { LoginServer } from "./login-server.ts";
import { readForm } from "./read-form.ts";
import { type TokenCache, tokenHash } from "../auth/token-cache.ts";

/** The dependencies of the calls to the login server. */
export interface LoginCallParts {
  readonly definition: OAuthDefinition;
  readonly pack: Pack;
  readonly requestedScopes: Pick<RequestedScopes, "findNarrowest" | "save">;
  readonly login: LoginServer;
  /** Base address of the login server. */
  readonly authOrigin: URL;
  readonly tokenStore: Pick<TokenStore, "read" | "requireRoom" | "revoke" | "save">;
  readonly tokens: Pick<TokenCache, "purge">;
  readonly clock: () => number;
}

const MAX_CLIENT_CHARACTERS = 256;
const MAX_LOSS_CHARACTERS = 200;

/** See RFC 6749 4.1.2.1. */
const INVALID_SCOPE = "invalid_scope";

/** A parameter of a query. Its value is still encoded. */
interface QueryParameter {
  readonly name: string;
  readonly encodedValue: string;
}

/**
 * Escapes characters that are invalid in an address, and `;`, at which some servers split a query, so that a value
 * could become a separate parameter. All other characters stay unchanged, because some servers distinguish `+` and
 * `%20`.
 */
const escapeValue = (encodedValue: string): string =>
  encodedValue.replace(
    /[^\x21\x22\x24-\x3a\x3c-\x7e]/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );

function splitQuery(query: string): QueryParameter[] {
  return query
    .split("&")
    .filter(Boolean)
    .map((pair) => {
      const [name = ""] = readParameters(pair).keys();
      const equals = pair.indexOf("=");
      return { name, encodedValue: equals < 0 ? "" : pair.slice(equals + 1) };
    });
}

const addressOf = (base: URL, path: string): string => `${base.href.replace(/\/$/, "")}${path}`;

/** Redirects the browser to the sign-out page of the login server. */
export function logout(
  context: Pick<RequestContext, "upstreamEquivalent">,
  v4: string,
  authOrigin: URL,
): HandlerResult {
  context.upstreamEquivalent = `GET ${v4}`;
  return { status: 302, body: "{}", headers: { location: addressOf(authOrigin, v4) } };
}

/**
 * Redirects the browser to the login server, and stores the requested scopes.
 *
 * @throws {HttpError} 400 if the client is missing, a parameter is repeated, or all scopes are unknown. 429 if the
 *   address or the application has requested too many different scopes. The browser is not redirected in any of these
 *   cases.
 */
export async function redirectToLogin(
  request: AlphaRequest,
  context: Pick<RequestContext, "losses" | "upstreamEquivalent">,
  { definition: { authorize: definition }, pack: { scopes }, requestedScopes, authOrigin }: LoginCallParts,
): Promise<HandlerResult> {
  const parameters = splitQuery(request.query);
  const forwarded = definition.pass.flatMap((name) => {
    const sameName = parameters.filter((parameter) => parameter.name === name);
    if (sameName.length > 1) throw new HttpError(400, `There is more than one ${name}.`);
    return sameName;
  });
  const decoded = readParameters(request.query);
  const [clientName = ""] = definition.pass;
  const client = decoded.get(clientName) ?? "";
  if (client === "" || client.length > MAX_CLIENT_CHARACTERS)
    throw new HttpError(400, `${clientName} is required.`);
  const scopeText = decoded.getAll(definition.scopes).join(",");
  const { grants, unknown } = scopes.read(scopeText);
  const unknownNames = unknown.join(",").slice(0, MAX_LOSS_CHARACTERS);
  if (unknown.length > 0 && grants !== "all" && grants.size === 0)
    throw new HttpError(400, `${INVALID_SCOPE}: ${unknownNames}`);
  if (unknown.length > 0) context.losses.add(`${definition.scopes}: unknown, not asked for: ${unknownNames}`);
  if (!(await requestedScopes.save(client, grants, request.address)))
    throw new HttpError(TOO_MANY_REQUESTS, "Too many different scopes were asked for. Try again later.", {
      by: "limit",
    });

  const v4Scopes = scopes.toV4(scopeText).join(",");
  const query = [
    ...forwarded.map(({ name, encodedValue }) => `${name}=${escapeValue(encodedValue)}`),
    ...Object.entries(definition.set).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
    ...(v4Scopes === ""
      ? []
      : definition.upstream_scopes.map((name) => `${name}=${encodeURIComponent(v4Scopes)}`)),
  ].join("&");
  context.upstreamEquivalent = `GET ${definition.upstream}`;
  const location = `${addressOf(authOrigin, definition.upstream)}?${query}`;
  return { status: 302, body: "{}", headers: { location } };
}

/**
 * Exchanges a code for a token. The client gets the scopes that it requested and v4 granted, and the gateway enforces
 * them (L-22).
 *
 * @param enforcePlan Throws if the plan rejects sign-ins of the application.
 * @throws {HttpError} 400 for a form with missing members, 429 if the application has too many tokens, and the errors
 *   of the login server.
 */
export async function exchangeCode(
  request: AlphaRequest,
  context: Pick<RequestContext, "body" | "upstreamEquivalent" | "application">,
  activity: UpstreamActivity,
  { definition, pack: { scopes }, login, tokenStore, requestedScopes, clock }: LoginCallParts,
  enforcePlan: (application: string) => Promise<void>,
): Promise<HandlerResult> {
  const { client_id: clientName, client_secret: secretName, token: names } = definition;
  const form = await readForm(request, context, [clientName, secretName, names.code]);
  const credentials = { client: form[clientName] ?? "", secret: form[secretName] ?? "" };
  await enforcePlan(credentials.client);
  const owner = applicationOwner(credentials.client);
  // Checked before the code is used up.
  await tokenStore.requireRoom(owner);
  context.upstreamEquivalent = `POST ${names.upstream}`;
  // The lifetime starts before the request, so that the token is refreshed early rather than late.
  const at = clock();
  const issued = await login.exchange(form[names.code] ?? "", credentials, activity);
  context.application = { id: credentials.client, isProven: true };
  const refresh = issued.refresh === undefined ? undefined : { ...credentials, token: issued.refresh };
  let allowedScopes: string;
  let token: string;
  try {
    const granted = scopes.grants(issued.scopes);
    allowedScopes = scopes.write(await requestedScopes.findNarrowest(credentials.client, granted));
    token = await tokenStore.save(issued, {
      scopes: allowedScopes,
      owner,
      refresh,
      at,
      application: credentials.client,
    });
  } catch (error) {
    // No client will get the token.
    await login.discard(issued, { ...credentials, token: issued.token });
    throw error;
  }
  const members = names.response;
  return { status: 200, body: printJson({ [members.scopes]: allowedScopes, [members.token]: token }) };
}

/**
 * Revokes a token of an application: the current v4 token, its refresh token, and the gateway token. If the login
 * server rejects the first call, nothing is revoked, and the client may try again.
 *
 * @throws {HttpError} 400 for a form with missing members, for a token of a different application and for a personal
 *   token, and the errors of the login server.
 */
export async function revokeToken(
  request: AlphaRequest,
  context: Pick<RequestContext, "body" | "upstreamEquivalent" | "application">,
  activity: UpstreamActivity,
  { definition, login, tokenStore, tokens }: LoginCallParts,
): Promise<HandlerResult> {
  const { client_id: clientName, client_secret: secretName, revoke } = definition;
  const form = await readForm(request, context, [clientName, secretName, revoke.token]);
  const token = form[revoke.token] ?? "";
  const credentials = { client: form[clientName] ?? "", secret: form[secretName] ?? "", token };
  const hash = tokenHash(token);
  const storedToken = await tokenStore.read(hash, token);
  // An already revoked token may be unknown.
  const holder = storedToken && (storedToken.application ?? storedToken.owner);
  if (holder !== undefined && holder !== credentials.client)
    throw new HttpError(400, "The token belongs to another client.");
  context.upstreamEquivalent = `POST ${revoke.upstream}`;
  await login.revoke({ ...credentials, token: storedToken?.token ?? token }, activity);
  context.application = { id: credentials.client, isProven: true };
  if (storedToken) await tokenStore.revoke(hash);
  await tokens.purge(hash);
  const rest = { token, scopes: "", expiresInSeconds: undefined, refresh: storedToken?.refresh?.token };
  if (storedToken) await login.discard(rest, credentials);
  return { status: 200, body: "{}" };
}

/** Calls that sign users in. Brown-outs and the end of the plan apply to them. */
export const SIGN_INS = { authorize: "GET", token: "POST" } as const;

/** Calls that sign users out. No stage of the plan applies to them. */
export const SIGN_OUTS = { revoke: "POST", logout: "GET" } as const;

/** The names of the routes that sign users out. */
export const signOutRoutes = (definition: OAuthDefinition): readonly string[] =>
  (["revoke", "logout"] as const).map((call) => `${SIGN_OUTS[call]} ${definition[call].client}`);
