import { HttpError, type OAuthDefinition } from "../../pack/index.ts";
import type { HandlerResult } from "../pipeline/response.ts";
import type { RequestContext } from "../pipeline/context.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import type { UpstreamActivity } from "../pipeline/calls/instrument-call.ts";
import { applicationOf } from "../auth/stored-token.ts";
import { tokenHash, type TokenCache } from "../auth/token-cache.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { LoginServer } from "./login-server.ts";
import { readForm } from "./read-form.ts";

export interface RevokeDependencies {
  readonly definition: OAuthDefinition;
  readonly login: LoginServer;
  readonly tokenStore: Pick<TokenStore, "read" | "revoke">;
  readonly tokens: Pick<TokenCache, "purge">;
}

/**
 * Revokes a token of an application: the current v4 token, its refresh token, and the gateway token. If the login server
 * rejects the first, nothing is revoked, and the client may try again.
 *
 * @throws {HttpError} 400 for a form with missing members, for a token of another application and for a personal token, and the
 *   errors of the login server.
 */
export async function revokeToken(
  request: AlphaRequest,
  context: Pick<RequestContext, "body" | "upstreamEquivalent" | "application">,
  activity: UpstreamActivity,
  { definition, login, tokenStore, tokens }: RevokeDependencies,
): Promise<HandlerResult> {
  const { client_id: clientName, client_secret: secretName, revoke } = definition;
  const form = await readForm(request, context, [clientName, secretName, revoke.token]);
  const token = form[revoke.token] ?? "";
  const credentials = { client: form[clientName] ?? "", secret: form[secretName] ?? "", token };
  const hash = tokenHash(token);
  const storedToken = await tokenStore.read(hash, token);
  // Of a token that is revoked already nothing may be known.
  const holder = storedToken && (applicationOf(storedToken) ?? storedToken.owner);
  if (holder !== undefined && holder !== credentials.client)
    throw new HttpError(400, "The token is not this client's.");
  context.upstreamEquivalent = `POST ${revoke.upstream}`;
  await login.revoke({ ...credentials, token: storedToken?.token ?? token }, activity);
  context.application = { id: credentials.client, isProven: true };
  if (storedToken) await tokenStore.revoke(hash);
  await tokens.purge(hash);
  const rest = { token, scopes: "", expiresInSeconds: undefined, refresh: storedToken?.refresh?.token };
  if (storedToken) await login.discard(rest, credentials);
  return { status: 200, body: "{}" };
}
