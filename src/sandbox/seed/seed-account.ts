/** Puts seed data into a world: each item with what its resource declares for what it doesn't say. */

import { createHash } from "node:crypto";
import { dateTime } from "../clock.ts";
import type { Resource } from "../resource/declaration.ts";
import { giveAccess } from "../resource/identity.ts";
import { homeBelow, homeOfUser } from "../resource/locate.ts";
import type { Value } from "../resources/shapes.ts";
import { scopesOf } from "../resources/token.ts";
import { newProfile } from "../resources/user-profile.ts";
import { blank } from "../rules/default-values.ts";
import { checking } from "../rules/check.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import type { AccountSeed, Seeds, UserSeed } from "./account-seed.ts";
import { SeedFault } from "./seed-fault.ts";
import { sowInstance } from "./seed-instance.ts";

/** @throws {SeedFault} that says where the seed data is wrong. */
export function sowAccount(world: World, seed: AccountSeed, at: number): void {
  const { id, account, settings, users, ...lists } = seed;
  put(world, "account", id, id, { ...account, euuid: id }, at);
  put(world, "settings", id, id, { network_helper: true, object_storage: "disabled", ...settings }, at);
  for (const user of users) sowUser(world, id, user, at);
  for (const [name, items] of Object.entries(lists)) {
    const resource = resourceListed(world, name, undefined);
    for (const item of items as Seeds) sowItem(world, resource, id, item, at, name);
  }
}

function put(
  world: World,
  name: "account" | "settings",
  home: string,
  id: string,
  given: object,
  at: number,
): void {
  const { fields } = world.resource(name);
  world.table(name as "settings").add(home, id, { ...blank(fields, at), ...structuredClone(given) });
}

function sowUser(world: World, account: string, seed: UserSeed, at: number): void {
  const { grants, tokens, sshkeys, devices, apps, ...given } = seed;
  const { username } = seed;
  if (world.table("user").get(username)) throw new SeedFault(`there are two users called ${username}`);
  const uid = 40_012 + 365 * [...world.table("user").all()].length;
  const keys = (sshkeys ?? []).map(({ label }) => String(label));
  const profile = { ...newProfile(uid, username), restricted: false, ...given, ssh_keys: keys };
  world.table("user").add(account, username, profile, grants && { grants: structuredClone(grants) });
  const lists = { tokens, sshkeys, devices };
  for (const [name, items] of Object.entries(lists)) {
    const resource = resourceListed(world, name, undefined);
    for (const item of items ?? [])
      sowItem(world, resource, homeOfUser(username), item, at, `${username}.${name}`);
  }
  for (const app of apps ?? []) letInApp(world, username, app, at);
  for (const row of world.table("token").of(homeOfUser(username))) letIn(world, row, username);
}

/** The secret stands in the item; what is shown of it later is its beginning. */
function letIn(world: World, row: Row<Value>, user: string): void {
  const { id, label, scopes, token } = row.value;
  const secret = typeof token === "string" && token !== "" ? token : secretFrom(`${user} ${String(label)}`);
  row.hidden = { secret };
  row.value["token"] = secret.slice(0, 16);
  giveAccess(world, secret, { user, scopes: scopesOf(String(scopes)), expires: null, token: Number(id) });
}

/** Seconds that a token of an application works (document 1, Authentication). */
const appLasts = 7200;

function letInApp(world: World, user: string, { token, client, ...said }: Value, at: number): void {
  const expires = world.clock.now() + appLasts * 1000;
  const item = { ...said, expiry: dateTime(expires) };
  sowItem(world, resourceListed(world, "apps", undefined), homeOfUser(user), item, at, `${user}.apps`);
  const row = [...world.table("app").of(homeOfUser(user))].at(-1);
  if (!row || typeof token !== "string") return;
  const scopes = scopesOf(String(row.value["scopes"]));
  giveAccess(world, token, { user, scopes, expires, app: Number(row.id), client: String(client) });
}

function secretFrom(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function sowItem(
  world: World,
  resource: Resource,
  home: string,
  item: Readonly<Record<string, unknown>>,
  at: number,
  where: string,
): void {
  const children = world.below(resource.name).filter((child) => child.list ?? child.read);
  const below = children.filter((child) => item[child.path.slice(1)] !== undefined);
  const given = { ...item };
  for (const child of below) delete given[child.path.slice(1)];
  checkItem(resource, given, where);
  const row =
    resource.name === "instance"
      ? sowInstance(world, home, given, at)
      : sowRow(world, resource, home, given, at);
  for (const child of below) {
    const name = child.path.slice(1);
    for (const each of item[name] as Seeds) {
      sowItem(world, child, homeBelow(resource.name, row.id), each, at, `${where}.${name}`);
    }
  }
}

function sowRow(world: World, resource: Resource, home: string, given: Value, at: number): Row<object> {
  const table = world.table(resource.name);
  const { hidden, ...said } = given;
  const id = (
    resource.id === "integer" ? (given["id"] ?? table.nextId()) : (given["id"] ?? given["label"])
  ) as number;
  const value = {
    ...blank(resource.fields, at),
    ...structuredClone(said),
    ...(resource.fields["id"] && { id }),
  };
  return table.add(home, id, value, hidden as object);
}

function checkItem({ fields }: Resource, given: Value, where: string): void {
  const { hidden: _, ...said } = given;
  const optional = Object.fromEntries(
    Object.entries(fields).map(([name, { required: _required, ...field }]) => [name, field]),
  );
  const [fault] = checking(optional)(said);
  if (fault) throw new SeedFault(fault.reason, where);
}

/** By the last part of its path. */
function resourceListed(world: World, name: string, parent: string | undefined): Resource {
  const found = world.resources.find(
    (each) =>
      each.parent === parent && !each.table && each.path.endsWith(`/${name}`) && each.owner !== "everyone",
  );
  if (!found) throw new SeedFault(`an account has no ${name}`);
  return found;
}
