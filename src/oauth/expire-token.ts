import { Refusal } from "../dialect/refusal.ts";
import type { Made } from "../gateway/ends.ts";
import type { AlphaRequest, Notes } from "../gateway/exchange.ts";
import type { OAuthDefinition } from "../mapping/definition.ts";
import { tokenHash } from "../tokens/fingerprint.ts";
import type { GrantBook } from "../tokens/grants.ts";
import type { TokenFactsStore } from "../tokens/token-facts.ts";
import type { LoginServer } from "./login-server.ts";
import { readForm } from "./read-form.ts";

export interface ExpireParts {
  readonly definition: OAuthDefinition;
  readonly login: LoginServer;
  readonly grants: Pick<GrantBook, "read" | "end">;
  readonly tokens: Pick<TokenFactsStore, "purge">;
}

/**
 * Ends a token: the v4 token that stands for it now, what would renew that, and the client's own. While the login
 * server does not take the first, nothing has ended and the client may try again.
 *
 * @throws {Refusal} 400 for a form that lacks something; the login server's own refusals
 */
export async function expireToken(request: AlphaRequest, notes: Notes, parts: ExpireParts): Promise<Made> {
  const { definition, login, grants, tokens } = parts;
  const { client: clientName, secret: secretName, expire } = definition;
  const form = await readForm(request, notes, [clientName, secretName, expire.token]);
  const token = form[expire.token] ?? "";
  const credentials = { client: form[clientName] ?? "", secret: form[secretName] ?? "", token };
  const hash = tokenHash(token);
  const grant = await grants.read(hash, token);
  if (grant?.refresh && grant.refresh.client !== credentials.client)
    throw new Refusal(400, "The token is not this client's.");
  notes.equivalent = `POST ${expire.v4}`;
  const current = grant?.token ?? token;
  await login.revoke({ ...credentials, token: current }, notes);
  if (grant) await grants.end(hash);
  await tokens.purge(hash);
  const left = { token, scopes: "", lastsSeconds: undefined, refresh: grant?.refresh?.token };
  if (grant) await login.discard(left, credentials);
  return { status: 200, body: "{}" };
}
