import { printJson } from "../../base/index.ts";
import type { OAuthDefinition, Scopes } from "../../pack/index.ts";
import type { HandlerResult } from "../pipeline/response.ts";
import type { RequestContext } from "../pipeline/context.ts";
import type { AlphaRequest } from "../pipeline/request.ts";
import type { UpstreamActivity } from "../pipeline/calls/instrument-call.ts";
import { applicationOwner } from "../auth/token-owners.ts";
import type { TokenStore } from "../auth/token-store.ts";
import type { RequestedScopes } from "./requested-scopes.ts";
import type { LoginServer } from "./login-server.ts";
import { readForm } from "./read-form.ts";

export interface ExchangeDependencies {
  readonly definition: OAuthDefinition;
  readonly scopes: Scopes;
  readonly requestedScopes: Pick<RequestedScopes, "findNarrowest">;
  readonly login: LoginServer;
  readonly tokenStore: Pick<TokenStore, "requireRoom" | "save">;
  readonly clock: () => number;
}

/**
 * Exchanges a code for a token. The client gets, and the gateway enforces, what the client requested and v4 granted
 * (L-22).
 *
 * @param enforcePlan Throws where the plan lets an application sign nobody in.
 * @throws {HttpError} 400 for a form with missing members, 429 if the application has too many tokens, and the errors of the login server.
 */
export async function exchangeCode(
  request: AlphaRequest,
  context: Pick<RequestContext, "body" | "upstreamEquivalent" | "application">,
  activity: UpstreamActivity,
  { definition, scopes, login, tokenStore, requestedScopes, clock }: ExchangeDependencies,
  enforcePlan: (application: string) => Promise<void>,
): Promise<HandlerResult> {
  const { client_id: clientName, client_secret: secretName, token: names } = definition;
  const form = await readForm(request, context, [clientName, secretName, names.code]);
  const credentials = { client: form[clientName] ?? "", secret: form[secretName] ?? "" };
  await enforcePlan(credentials.client);
  const owner = applicationOwner(credentials.client);
  // Before the code is used up.
  await tokenStore.requireRoom(owner);
  context.upstreamEquivalent = `POST ${names.upstream}`;
  // Its lifetime is counted from before the request: better too early than too late.
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
