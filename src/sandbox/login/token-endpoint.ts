/** The token endpoint: codes, access tokens and refresh tokens (V-173 to V-175). */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { revokeTokens, storeAccessToken } from "../http/authentication.ts";
import { userHome } from "../store/homes.ts";
import type { TokenAccess } from "../resources/hidden-state.ts";
import type { Row } from "../store/store-table.ts";
import type { Store } from "../resource/resource-declaration.ts";

/** Default lifetime of an access token, in seconds. */
export const accessTokenSeconds = 7200;
const codeLifetimeMs = 600_000;

/** The scopes that a user granted to a client. */
interface Consent {
  readonly client: string;
  readonly user: string;
  readonly scopes: readonly string[];
}

/** The members of a token request. Each occurs once in the form. */
export type Form = Readonly<Record<string, string>>;

const randomSecret = (): string => randomBytes(32).toString("hex");
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Returns an OAuth client if it is active. */
export function activeClient(store: Store, id: string): Row | undefined {
  const client = store.table("client").get(id);
  return client?.value["status"] === "active" ? client : undefined;
}

/**
 * Authenticates a client. It takes the same time for an unknown client as for a wrong secret, so that timing reveals
 * nothing.
 */
function authenticateClient(store: Store, { client_id: id = "", client_secret: given = "" }: Form): string {
  const storedSecret = activeClient(store, id)?.hidden?.secret;
  const right = timingSafeEqual(digest(given), digest(storedSecret ?? randomSecret()));
  if (storedSecret === undefined || !right)
    throw new OAuthProblem("invalid_client", "The client id or secret is wrong.");
  return id;
}

function requireMembers(form: Form, ...names: string[]): void {
  const missing = names.filter((name) => !form[name]);
  if (missing.length > 0) throw new OAuthProblem("invalid_request", `${missing.join(" and ")} missing.`);
}

/** Deletes expired codes and tokens, so that the tables do not grow with each sign-in. */
function removeExpired(store: Store): void {
  const now = store.clock.now();
  const codes = store.table("code");
  for (const { id, value } of codes.all()) if (value.expires <= now) codes.remove(id);
  const access = store.table("access");
  for (const { id, value } of access.all()) {
    if (value.client !== undefined && value.expires !== null && value.expires <= now) access.remove(id);
  }
}

export function issueCode(store: Store, leave: Consent): string {
  removeExpired(store);
  const code = randomSecret();
  store
    .table("code")
    .add(userHome(leave.user), code, { ...leave, used: false, expires: store.clock.now() + codeLifetimeMs });
  return code;
}

function issueTokens(store: Store, access: Omit<TokenAccess, "expires">, seconds: number): object {
  const [token, refresh] = [randomSecret(), randomSecret()];
  storeAccessToken(store, token, { ...access, expires: store.clock.now() + seconds * 1000 });
  store.table("refresh").add(userHome(access.user), refresh, { ...access, expires: null });
  const scope = access.scopes.join(" ");
  return {
    scope,
    // Some v4 clients still read alpha's name of the member.
    scopes: scope,
    access_token: token,
    refresh_token: refresh,
    token_type: "bearer",
    expires_in: seconds,
  };
}

function exchangeCode(store: Store, form: Form, seconds: number): object {
  requireMembers(form, "client_id", "client_secret", "code");
  const client = authenticateClient(store, form);
  const code = form["code"] ?? "";
  const found = store.table("code").get(code)?.value;
  const wrong = new OAuthProblem("invalid_grant", "The code is unknown, was used, or has ended.");
  if (!found || found.client !== client || found.expires <= store.clock.now()) throw wrong;
  if (found.used) {
    // A second use suggests a stolen code, so its tokens are revoked (RFC 6749 section 4.1.2).
    revokeTokens(store, (access) => access.code === code);
    throw wrong;
  }
  found.used = true;
  const { user, scopes } = found;
  return issueTokens(store, { user, scopes, client, code }, seconds);
}

/** Exchanges a refresh token, which can be used once. */
function exchangeRefreshToken(store: Store, form: Form, seconds: number): object {
  requireMembers(form, "client_id", "client_secret", "refresh_token");
  const client = authenticateClient(store, form);
  const token = form["refresh_token"] ?? "";
  const found = store.table("refresh").get(token)?.value;
  if (found?.client !== client || !store.table("user").get(found.user))
    throw new OAuthProblem("invalid_grant", "The refresh token is unknown or was used.");
  store.table("refresh").remove(token);
  const { expires: _expires, ...access } = found;
  return issueTokens(store, access, seconds);
}

/**
 * Exchanges a code or a refresh token for an access token and a refresh token.
 *
 * @throws {OAuthProblem} if the request is invalid.
 */
export function issueTokenResponse(store: Store, form: Form, seconds: number): object {
  return form["grant_type"] === "refresh_token"
    ? exchangeRefreshToken(store, form, seconds)
    : exchangeCode(store, form, seconds);
}

/** Revokes an access or refresh token of the client. An unknown token is not an error (RFC 7009 section 2.2). */
export function revokeToken(store: Store, form: Form): void {
  requireMembers(form, "client_id", "client_secret", "token");
  const client = authenticateClient(store, form);
  for (const name of ["access", "refresh"] as const) {
    const table = store.table(name);
    const token = form["token"];
    if (token !== undefined && table.get(token)?.value.client === client) table.remove(token);
  }
}

// Error response of the login server (RFC 6749 sections 4.1.2.1 and 5.2).
export class OAuthProblem extends Error {
  override readonly name = "OAuthProblem";
  readonly status: number;
  /** The OAuth error code, e.g. `invalid_client`. */
  readonly error: string;

  constructor(error: string, description: string, status = error === "invalid_client" ? 401 : 400) {
    super(description);
    this.error = error;
    this.status = status;
  }
}
