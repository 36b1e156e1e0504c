import { HttpError } from "../../dialect/http-error.ts";
import type { HandlerResult } from "../../pipeline/lifecycle.ts";
import type { AlphaRequest, RequestContext } from "../../pipeline/context.ts";
import type { OAuthDefinition } from "../../mapping/schema/definition.ts";
import { tokenHash } from "../token-hash.ts";
import type { TokenStore } from "../token-store.ts";
import type { TokenCache } from "../token-cache.ts";
import type { LoginServer } from "./login-server.ts";
import { readForm } from "./read-form.ts";

export interface RevokeDependencies {
  readonly definition: OAuthDefinition;
  readonly login: LoginServer;
  readonly tokenStore: Pick<TokenStore, "read" | "revoke">;
  readonly tokens: Pick<TokenCache, "purge">;
}

/**
 * Ends a token: the v4 token that stands for it now, what would renew that, and the client's own. While the login
 * server does not take the first, nothing has ended and the client may try again.
 *
 * @throws {HttpError} 400 for a form that lacks something; the login server's own refusals
 */
export async function revokeToken(
  request: AlphaRequest,
  notes: RequestContext,
  parts: RevokeDependencies,
): Promise<HandlerResult> {
  const { definition, login, tokenStore: grants, tokens } = parts;
  const { client: clientName, secret: secretName, expire } = definition;
  const form = await readForm(request, notes, [clientName, secretName, expire.token]);
  const token = form[expire.token] ?? "";
  const credentials = { client: form[clientName] ?? "", secret: form[secretName] ?? "", token };
  const hash = tokenHash(token);
  const grant = await grants.read(hash, token);
  if (grant?.refresh && grant.refresh.client !== credentials.client)
    throw new HttpError(400, "The token is not this client's.");
  notes.upstreamEquivalent = `POST ${expire.v4}`;
  const current = grant?.token ?? token;
  await login.revoke({ ...credentials, token: current }, notes);
  if (grant) await grants.revoke(hash);
  await tokens.purge(hash);
  const left = { token, scopes: "", expiresInSeconds: undefined, refresh: grant?.refresh?.token };
  if (grant) await login.discard(left, credentials);
  return { status: 200, body: "{}" };
}
