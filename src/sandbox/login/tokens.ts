/** Codes, and the tokens that they and refresh tokens are good for (document 1, Authentication; v4 3.2). */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { dateTime } from "../clock.ts";
import { giveAccess, revoke } from "../resource/identity.ts";
import { homeOfUser } from "../resource/locate.ts";
import type { Access } from "../resources/hidden.ts";
import type { Value } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import { OAuthProblem } from "./oauth-problem.ts";

/** Seconds that an access token works where nothing else is said. */
export const tokenLasts = 7200;
const codeLasts = 600_000;

/** What a user let a client do. */
export interface Leave {
  readonly client: string;
  readonly user: string;
  readonly scopes: readonly string[];
}

/** The members of a token request, none twice. */
export type Form = Readonly<Record<string, string>>;

const secret = (): string => randomBytes(32).toString("hex");
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** A client that may be let in. */
export function activeClient(world: World, id: string): Row<Value> | undefined {
  const client = world.table("client").get(id);
  return client?.value["status"] === "active" ? client : undefined;
}

/** Takes as long for a client that is unknown as for one whose secret is wrong. */
function authenticate(world: World, { client_id: id = "", client_secret: given = "" }: Form): string {
  const known = activeClient(world, id)?.hidden?.secret;
  const right = timingSafeEqual(digest(given), digest(known ?? secret()));
  if (known === undefined || !right)
    throw new OAuthProblem("invalid_client", "The client id or secret is wrong.");
  return id;
}

function need(form: Form, ...names: string[]): void {
  const missing = names.filter((name) => !form[name]);
  if (missing.length > 0) throw new OAuthProblem("invalid_request", `${missing.join(" and ")} missing.`);
}

/** Forgets what has ended, so that the tables don't grow with every sign-in. */
function sweep(world: World): void {
  const now = world.clock.now();
  const codes = world.table("code");
  for (const { id, value } of codes.all()) if (value.expires <= now) codes.remove(id);
  const access = world.table("access");
  for (const { id, value } of access.all()) {
    if (value.client !== undefined && value.expires !== null && value.expires <= now) access.remove(id);
  }
}

export function issueCode(world: World, leave: Leave): string {
  sweep(world);
  const code = secret();
  world
    .table("code")
    .add(homeOfUser(leave.user), code, { ...leave, used: false, expires: world.clock.now() + codeLasts });
  return code;
}

/** What the user sees of it among the applications let in. */
function letIn(world: World, { client, user, scopes }: Leave): number {
  const apps = world.table("app");
  const { label, redirect_uri: address } = world.table("client").get(client)?.value ?? {};
  const id = apps.nextId();
  apps.add(homeOfUser(user), id, {
    id,
    label,
    thumbnail_url: null,
    scopes: scopes.join(" "),
    created: dateTime(world.clock.now()),
    expiry: null,
    website: URL.parse(String(address))?.origin ?? "",
  });
  return id;
}

function issue(world: World, access: Omit<Access, "expires">, seconds: number): object {
  const [token, refresh] = [secret(), secret()];
  giveAccess(world, token, { ...access, expires: world.clock.now() + seconds * 1000 });
  world.table("refresh").add(homeOfUser(access.user), refresh, { ...access, expires: null });
  const scope = access.scopes.join(" ");
  return {
    scope,
    // Some clients of v4 still read the name that alpha had.
    scopes: scope,
    access_token: token,
    refresh_token: refresh,
    token_type: "bearer",
    expires_in: seconds,
  };
}

function exchangeCode(world: World, form: Form, seconds: number): object {
  need(form, "client_id", "client_secret", "code");
  const client = authenticate(world, form);
  const code = form["code"] ?? "";
  const found = world.table("code").get(code)?.value;
  const wrong = new OAuthProblem("invalid_grant", "The code is unknown, was used, or has ended.");
  if (!found || found.client !== client || found.expires <= world.clock.now()) throw wrong;
  if (found.used) {
    // Whoever used it first may not be whom it was meant for (RFC 6749 4.1.2).
    revoke(world, (access) => access.code === code);
    throw wrong;
  }
  found.used = true;
  const { user, scopes } = found;
  const app = letIn(world, { client, user, scopes });
  return issue(world, { user, scopes, client, code, app }, seconds);
}

/** A refresh token is good for one use. */
function refresh(world: World, form: Form, seconds: number): object {
  need(form, "client_id", "client_secret", "refresh_token");
  const client = authenticate(world, form);
  const token = form["refresh_token"] ?? "";
  const found = world.table("refresh").get(token)?.value;
  if (found?.client !== client || !world.table("user").get(found.user))
    throw new OAuthProblem("invalid_grant", "The refresh token is unknown or was used.");
  world.table("refresh").remove(token);
  const { expires: _expires, ...access } = found;
  return issue(world, access, seconds);
}

/**
 * Gives an access token that works for so many seconds, and a refresh token.
 *
 * @throws {OAuthProblem} where no token is given for it.
 */
export function exchange(world: World, form: Form, seconds: number): object {
  return form["grant_type"] === "refresh_token"
    ? refresh(world, form, seconds)
    : exchangeCode(world, form, seconds);
}

/** Ends an access or a refresh token of the client; one that is unknown has ended already (RFC 7009 2.2). */
export function endToken(world: World, form: Form): void {
  need(form, "client_id", "client_secret", "token");
  const client = authenticate(world, form);
  for (const name of ["access", "refresh"] as const) {
    const table = world.table(name);
    const token = form["token"];
    if (token !== undefined && table.get(token)?.value.client === client) table.remove(token);
  }
}
