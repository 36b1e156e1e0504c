/** The authorization endpoint: starting a sign-in and finishing it with the user's decision (RFC 6749 section 4.1). */

import { randomBytes } from "node:crypto";
import type { Clock } from "../clock.ts";
import { isScope, scopesOf } from "../resources/account/token.ts";
import { choicesFor, consentPage } from "./consent-page.ts";
import { OAuthProblem, activeClient, issueCode } from "./token-endpoint.ts";
import type { Store } from "../resource/resource-declaration.ts";

/** A page to display, or an address to redirect the browser to. */
type AuthorizeResult = { readonly page: string; readonly target: string } | { readonly location: string };

/** Returns a query parameter as received, still encoded. */
function rawParameter(query: string, name: string): string | undefined {
  const pair = query.split("&").find((each) => each.startsWith(`${name}=`));
  return pair?.slice(name.length + 1);
}

/**
 * Starts a sign-in.
 *
 * @param query The query string as received, without the question mark.
 * @throws {OAuthProblem} if there is no valid client to redirect to.
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
  const requested = parameters.get("redirect_uri") ?? undefined;
  const target = resolveRedirectUri(String(client.value["redirect_uri"]), requested);
  const state = rawParameter(query, "state");
  const refused = (error: string, error_description: string): AuthorizeResult => ({
    location: addParameters(target, { error, error_description }, state),
  });
  if ((parameters.get("response_type") ?? "code") !== "code")
    return refused("unsupported_response_type", "The response_type must be code.");
  // Clients use both names; if both are sent they have the same value.
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

/** Checks that each granted scope is one that the page offered for a requested scope. */
function chosenScopes(requested: readonly string[], chosen: readonly string[]): string[] {
  const offered = new Set(requested.flatMap(choicesFor));
  if (!chosen.every((scope) => offered.has(scope)))
    throw new OAuthProblem("invalid_request", "More was allowed than had been asked for.");
  return [...new Set(chosen)].filter((scope) => scope !== "");
}

/**
 * Finishes a sign-in.
 *
 * @returns The redirect to the client, with a code or an error.
 * @throws {OAuthProblem} if this browser has no such pending sign-in.
 */
export function finishSignIn(
  store: Store,
  pending: PendingSignIns,
  form: URLSearchParams,
  browser: string,
): string {
  const question = pending.take(form.get("ticket") ?? "", browser);
  if (!question || !activeClient(store, question.client))
    throw new OAuthProblem("invalid_request", "This page has expired. Start again at the application.");
  const { client, target, state } = question;
  if (form.get("decision") !== "allow") {
    const denial = { error: "access_denied", error_description: "The user did not allow it." };
    return addParameters(target, denial, state);
  }
  const user = store.table("user").get(form.get("username"));
  if (!user) throw new OAuthProblem("invalid_request", "There is no such user.");
  const scopes = chosenScopes(question.scopes, form.getAll("scope"));
  const { username, email } = user.value;
  const code = issueCode(store, { client, user: username, scopes });
  return addParameters(target, { code, username, email }, state);
}

// Sign-ins that wait for the user's decision on the consent page.

/** The authorization request of a client. */
interface SignInRequest {
  readonly client: string;
  readonly scopes: readonly string[];
  /** The redirect URI of the client. */
  readonly target: string;
  /** The `state` as received, still encoded. */
  readonly state: string | undefined;
}

/** A sign-in with the browser that started it. Only that browser may finish it. */
interface PendingSignIn {
  readonly question: SignInRequest;
  readonly browser: string;
  readonly ends: number;
}

const lifetimeMs = 600_000;
const maxPending = 1000;

interface PendingSignIns {
  /** Adds a sign-in and returns its one-time ticket. */
  add(question: SignInRequest, browser: string): string;
  /**
   * Removes and returns a sign-in; undefined if its ticket is unknown, used or expired, or was created for a different
   * browser.
   */
  take(ticket: string, browser: string): SignInRequest | undefined;
}

export function createPendingSignIns(clock: Clock): PendingSignIns {
  const questions = new Map<string, PendingSignIn>();
  return {
    add(question, browser) {
      const ticket = randomBytes(32).toString("hex");
      const oldest = questions.size >= maxPending ? questions.keys().next().value : undefined;
      if (oldest !== undefined) questions.delete(oldest);
      questions.set(ticket, { question, browser, ends: clock.now() + lifetimeMs });
      return ticket;
    },
    take(ticket, browser) {
      const found = questions.get(ticket);
      if (!found || found.browser !== browser) return undefined;
      questions.delete(ticket);
      return found.ends > clock.now() ? found.question : undefined;
    },
  };
}

// Redirect URIs.

/** Normalizes a URL; undefined unless it is absolute, without fragment (RFC 6749 section 3.1.2) and without credentials. */
function normalizeUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return !url || url.hash !== "" || text.includes("#") || url.username !== "" || url.password !== ""
    ? undefined
    : url.href;
}

/**
 * Returns the requested address if the registered one is its prefix, otherwise the registered one. The prefix must end
 * at a path boundary, and both are compared after normalization: compared as text, `https://app.example` would also
 * accept `https://app.example.evil.net`, and `/callback` would accept `/callback/../x`.
 */
function resolveRedirectUri(registered: string, requested: string | undefined): string {
  const wanted = requested === undefined ? undefined : normalizeUrl(requested);
  const prefix = normalizeUrl(registered);
  if (wanted === undefined || prefix === undefined || !wanted.startsWith(prefix)) return registered;
  const [next] = wanted.slice(prefix.length);
  const boundaries = prefix.includes("?") ? "&" : "/?";
  return next === undefined || boundaries.includes(next) || (prefix.endsWith("/") && !prefix.includes("?"))
    ? wanted
    : registered;
}

/**
 * Adds parameters to an address.
 *
 * @param state As received, still encoded: it is returned byte for byte.
 */
function addParameters(
  address: string,
  parameters: Readonly<Record<string, string>>,
  state: string | undefined,
): string {
  const pairs = [
    ...Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`),
    ...(state === undefined ? [] : [`state=${state}`]),
  ];
  return `${address}${address.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}
