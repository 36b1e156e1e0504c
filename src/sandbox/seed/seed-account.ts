/** Puts seed data into a world: each item with what its resource declares for what it doesn't say. */

import { createHash } from "node:crypto";
import { dateTime } from "../clock.ts";
import type { Resource } from "../resource/declaration.ts";
import { storeAccessToken } from "../resource/identity.ts";
import { childHome, userHome } from "../resource/locate.ts";
import type { Value } from "../resources/shapes.ts";
import { scopesOf } from "../resources/token.ts";
import { newProfile } from "../resources/user-profile.ts";
import { defaultValues } from "../rules/default-values.ts";
import { createValidator } from "../rules/check.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import type { AccountSeed, Seeds, UserSeed } from "./account-seed.ts";
import { SeedError } from "./seed-fault.ts";
import { seedInstanceFromData } from "./seed-instance.ts";

/** @throws {SeedError} that says where the seed data is wrong. */
export function seedAccount(store: Store, seed: AccountSeed, at: number): void {
  const { id, account, settings, users, ...lists } = seed;
  addSingleRow(store, "account", id, id, { ...account, euuid: id }, at);
  addSingleRow(
    store,
    "settings",
    id,
    id,
    { network_helper: true, object_storage: "disabled", ...settings },
    at,
  );
  for (const user of users) seedUser(store, id, user, at);
  for (const [name, items] of Object.entries(lists)) {
    const resource = findResourceByPath(store, name, undefined);
    for (const item of items as Seeds) seedItem(store, resource, id, item, at, name);
  }
}

function addSingleRow(
  store: Store,
  name: "account" | "settings",
  home: string,
  id: string,
  given: object,
  at: number,
): void {
  const { fields } = store.resource(name);
  store.table(name as "settings").add(home, id, { ...defaultValues(fields, at), ...structuredClone(given) });
}

function seedUser(store: Store, account: string, seed: UserSeed, at: number): void {
  const { grants, tokens, sshkeys, devices, apps, ...given } = seed;
  const { username } = seed;
  if (store.table("user").get(username)) throw new SeedError(`there are two users called ${username}`);
  const uid = 40_012 + 365 * [...store.table("user").all()].length;
  const keys = (sshkeys ?? []).map(({ label }) => String(label));
  const profile = { ...newProfile(uid, username), restricted: false, ...given, ssh_keys: keys };
  store.table("user").add(account, username, profile, grants && { grants: structuredClone(grants) });
  const lists = { tokens, sshkeys, devices };
  for (const [name, items] of Object.entries(lists)) {
    const resource = findResourceByPath(store, name, undefined);
    for (const item of items ?? [])
      seedItem(store, resource, userHome(username), item, at, `${username}.${name}`);
  }
  for (const app of apps ?? []) seedApp(store, username, app, at);
  for (const row of store.table("token").inHome(userHome(username))) activateToken(store, row, username);
}

/** The secret stands in the item; what is shown of it later is its beginning. */
function activateToken(store: Store, row: Row<Value>, user: string): void {
  const { id, label, scopes, token } = row.value;
  const secret =
    typeof token === "string" && token !== "" ? token : secretFromText(`${user} ${String(label)}`);
  row.hidden = { secret };
  row.value["token"] = secret.slice(0, 16);
  storeAccessToken(store, secret, {
    user,
    scopes: scopesOf(String(scopes)),
    expires: null,
    token: Number(id),
  });
}

/** Seconds that a token of an application works (document 1, Authentication). */
const appTokenSeconds = 7200;

function seedApp(store: Store, user: string, { token, client, ...said }: Value, at: number): void {
  const expires = store.clock.now() + appTokenSeconds * 1000;
  const item = { ...said, expiry: dateTime(expires) };
  seedItem(store, findResourceByPath(store, "apps", undefined), userHome(user), item, at, `${user}.apps`);
  const row = [...store.table("app").inHome(userHome(user))].at(-1);
  if (!row || typeof token !== "string") return;
  const scopes = scopesOf(String(row.value["scopes"]));
  storeAccessToken(store, token, { user, scopes, expires, app: Number(row.id), client: String(client) });
}

function secretFromText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function seedItem(
  store: Store,
  resource: Resource,
  home: string,
  item: Readonly<Record<string, unknown>>,
  at: number,
  where: string,
): void {
  const children = store.childResources(resource.name).filter((child) => child.list ?? child.read);
  const below = children.filter((child) => item[child.path.slice(1)] !== undefined);
  const given = { ...item };
  for (const child of below) delete given[child.path.slice(1)];
  validateItem(resource, given, where);
  const row =
    resource.name === "instance"
      ? seedInstanceFromData(store, home, given, at)
      : seedRow(store, resource, home, given, at);
  for (const child of below) {
    const name = child.path.slice(1);
    for (const each of item[name] as Seeds) {
      seedItem(store, child, childHome(resource.name, row.id), each, at, `${where}.${name}`);
    }
  }
}

function seedRow(store: Store, resource: Resource, home: string, given: Value, at: number): Row<object> {
  const table = store.table(resource.name);
  const { hidden, ...said } = given;
  const id = (
    resource.id === "integer" ? (given["id"] ?? table.nextId()) : (given["id"] ?? given["label"])
  ) as number;
  const value = {
    ...defaultValues(resource.fields, at),
    ...structuredClone(said),
    ...(resource.fields["id"] && { id }),
  };
  return table.add(home, id, value, hidden as object);
}

function validateItem({ fields }: Resource, given: Value, where: string): void {
  const { hidden: _, ...said } = given;
  const optional = Object.fromEntries(
    Object.entries(fields).map(([name, { required: _required, ...field }]) => [name, field]),
  );
  const [fieldError] = createValidator(optional)(said);
  if (fieldError) throw new SeedError(fieldError.reason, where);
}

/** By the last part of its path. */
function findResourceByPath(store: Store, name: string, parent: string | undefined): Resource {
  const found = store.resources.find(
    (each) =>
      each.parent === parent && !each.table && each.path.endsWith(`/${name}`) && each.owner !== "everyone",
  );
  if (!found) throw new SeedError(`an account has no ${name}`);
  return found;
}
