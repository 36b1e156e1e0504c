/** The two halves of a sign-in: the question that a client puts, and the user's answer. */

import { isScope, scopesOf } from "../resources/token.ts";
import type { Store } from "../store/store.ts";
import { choicesFor, consentPage } from "./consent-page.ts";
import { OAuthProblem } from "./oauth-problem.ts";
import type { PendingSignIns } from "./pending.ts";
import { resolveRedirectUri, addParameters } from "./redirect.ts";
import { activeClient, issueCode } from "./tokens.ts";

/** A page to show, or an address to send the browser to. */
export type AuthorizeResult =
  | { readonly page: string; readonly target: string }
  | { readonly location: string };

/** As it came, still encoded; undefined where it was not sent. */
function rawParameter(query: string, name: string): string | undefined {
  const pair = query.split("&").find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}

/**
 * Begins a sign-in.
 *
 * @param query as it came, without the question mark
 * @throws {OAuthProblem} where there is no client to send the browser back to
 */
export function startSignIn(
  store: Store,
  pending: PendingSignIns,
  query: string,
  browser: string,
): AuthorizeResult {
  const parameters = new URLSearchParams(query);
  for (const name of ["client_id", "redirect_uri", "state"]) {
    if (parameters.getAll(name).length > 1) throw new OAuthProblem("invalid_request", `${name} came twice.`);
  }
  const id = parameters.get("client_id") ?? "";
  const client = activeClient(store, id);
  if (!client) throw new OAuthProblem("invalid_request", "There is no such application.");
  const asked = parameters.get("redirect_uri") ?? undefined;
  const target = resolveRedirectUri(String(client.value["redirect_uri"]), asked);
  const state = rawParameter(query, "state");
  const refused = (error: string, error_description: string): AuthorizeResult => ({
    location: addParameters(target, { error, error_description }, state),
  });
  if ((parameters.get("response_type") ?? "code") !== "code")
    return refused("unsupported_response_type", "The response_type must be code.");
  // Both names are in use; where both come they say the same.
  const scopes = [...new Set(scopesOf(parameters.get("scope") ?? parameters.get("scopes") ?? ""))];
  const unknown = scopes.filter((scope) => !isScope(store, scope));
  if (unknown.length > 0) return refused("invalid_scope", `There is no scope ${unknown.join(", ")}.`);
  const page = consentPage({
    client: String(client.value["label"]),
    scopes,
    users: [...store.table("user").all()].map(({ value }) => value.username),
    ticket: pending.add({ client: id, scopes, target, state }, browser),
  });
  return { page, target };
}

/** Each choice must be one that the page offered, and of a scope that was asked. */
function chosenScopes(asked: readonly string[], chosen: readonly string[]): string[] {
  const offered = new Set(asked.flatMap(choicesFor));
  if (!chosen.every((scope) => offered.has(scope)))
    throw new OAuthProblem("invalid_request", "More was allowed than had been asked for.");
  return [...new Set(chosen)].filter((scope) => scope !== "");
}

/**
 * Ends a sign-in.
 *
 * @returns where the browser goes next: the client's own address, with a code or a refusal
 * @throws {OAuthProblem} where the answer is to no question that this browser was put
 */
export function finishSignIn(
  store: Store,
  pending: PendingSignIns,
  form: URLSearchParams,
  browser: string,
): string {
  const question = pending.take(form.get("ticket") ?? "", browser);
  if (!question || !activeClient(store, question.client))
    throw new OAuthProblem("invalid_request", "This page is too old. Begin anew at the application.");
  const { client, target, state } = question;
  if (form.get("answer") !== "allow") {
    const refusal = { error: "access_denied", error_description: "The user did not allow it." };
    return addParameters(target, refusal, state);
  }
  const user = store.table("user").get(form.get("username"));
  if (!user) throw new OAuthProblem("invalid_request", "There is no such user.");
  const scopes = chosenScopes(question.scopes, form.getAll("scope"));
  const { username, email } = user.value;
  const code = issueCode(store, { client, user: username, scopes });
  return addParameters(target, { code, username, email }, state);
}
