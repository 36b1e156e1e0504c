import { printJson } from "../../dialect/json/parse.ts";
import type { Scopes } from "../../dialect/scopes.ts";
import type { HandlerResult } from "../../pipeline/lifecycle.ts";
import type { AlphaRequest, RequestContext } from "../../pipeline/context.ts";
import type { OAuthDefinition } from "../../mapping/schema/definition.ts";
import type { TokenStore } from "../token-store.ts";
import type { RequestedScopes } from "./requested-scopes.ts";
import type { LoginServer } from "./login-server.ts";
import { readForm } from "./read-form.ts";

export interface ExchangeDependencies {
  readonly definition: OAuthDefinition;
  readonly scopes: Scopes;
  readonly requestedScopes: Pick<RequestedScopes, "findNarrowest">;
  readonly login: LoginServer;
  readonly tokenStore: Pick<TokenStore, "save">;
  readonly clock: () => number;
}

/**
 * Turns a code into a token. What the client is told it may do, and may do from then on, is what it had asked
 * for and was given, whichever is less (lesson L22).
 *
 * @throws {Refusal} 400 for a form that lacks something; the login server's own refusals
 */
export async function exchangeCode(
  request: AlphaRequest,
  notes: RequestContext,
  parts: ExchangeDependencies,
): Promise<HandlerResult> {
  const { definition, scopes, login, tokenStore: grants, requestedScopes: asked, clock } = parts;
  const { client: clientName, secret: secretName, token: names } = definition;
  const form = await readForm(request, notes, [clientName, secretName, names.code]);
  const credentials = { client: form[clientName] ?? "", secret: form[secretName] ?? "" };
  notes.upstreamEquivalent = `POST ${names.v4}`;
  // Its life is counted from before the answer: better a moment early than late.
  const at = clock();
  const issued = await login.exchange(form[names.code] ?? "", credentials, notes);
  const refresh = issued.refresh === undefined ? undefined : { ...credentials, token: issued.refresh };
  let may: string;
  let token: string;
  try {
    may = scopes.write(await asked.findNarrowest(credentials.client, scopes.grants(issued.scopes)));
    token = await grants.save(issued, { scopes: may, refresh, at });
  } catch (error) {
    // Nobody will ever use it.
    await login.discard(issued, { ...credentials, token: issued.token });
    throw error;
  }
  const { answer } = names;
  return { status: 200, body: printJson({ [answer.scopes]: may, [answer.token]: token }) };
}
