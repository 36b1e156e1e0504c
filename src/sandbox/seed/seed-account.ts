/** Adds the seed data of an account to the store. Missing members get the defaults of their resource. */

import { createHash } from "node:crypto";
import { defaultValues, isObject } from "../fields/field.ts";
import { createValidator } from "../fields/validate-body.ts";
import { storeAccessToken } from "../http/authentication.ts";
import { tableFor } from "../resource/find-rows.ts";
import type { Resource, Store } from "../resource/resource-declaration.ts";
import { addAddressRows } from "../resources/network/address-allocation.ts";
import { scheduleBackup } from "../resources/instances/backup-schedule.ts";
import { addConfig } from "../resources/instances/config-profile.ts";
import { addDisk, imageDisks } from "../resources/instances/disk.ts";
import { newInstance } from "../resources/instances/instance-create.ts";
import type { Disk, Instance, RowTypes, UntypedRow } from "../resources/row-types.ts";
import { scopesOf } from "../resources/account/token.ts";
import { newProfile } from "../resources/account/user.ts";
import type { Row } from "../store/store-table.ts";
import type { AccountSeed, UserSeed } from "./seed-file.ts";
import { SeedError, seedsOf } from "./seed-file.ts";
import { childHome, userHome } from "../store/homes.ts";

/** Adds an account to the store. @throws {SeedError} with the location of the invalid seed data. */
export function seedAccount(store: Store, seed: AccountSeed, at: number): void {
  const { id, account, settings, users, ...lists } = seed;
  addSingleRow(store, "account", id, { ...account, euuid: id }, at);
  addSingleRow(store, "settings", id, { network_helper: true, object_storage: "disabled", ...settings }, at);
  for (const user of users) seedUser(store, id, user, at);
  for (const [name, items] of Object.entries(lists)) {
    const resource = findResourceByPath(store, name, undefined);
    for (const item of seedsOf(items, name)) seedItem(store, resource, id, item, at, name);
  }
}

function addSingleRow(
  store: Store,
  name: "account" | "settings",
  account: string,
  given: object,
  at: number,
): void {
  const { fields } = store.resource(name);
  const value = { ...defaultValues(fields, at), ...structuredClone(given) };
  store.table<keyof RowTypes>(name).add(account, account, value);
}

function seedUser(store: Store, account: string, seed: UserSeed, at: number): void {
  const { grants, tokens, apps, ...given } = seed;
  const { username } = seed;
  if (store.table("user").get(username)) throw new SeedError(`there are two users called ${username}`);
  const uid = 40_012 + 365 * [...store.table("user").all()].length;
  const profile = { ...newProfile(uid, username), restricted: false, ...given };
  store.table("user").add(account, username, profile, grants && { grants: structuredClone(grants) });
  const tokenResource = findResourceByPath(store, "tokens", undefined);
  for (const token of tokens ?? [])
    seedItem(store, tokenResource, userHome(username), token, at, `${username}.tokens`);
  for (const app of apps ?? []) storeAppToken(store, username, app);
  for (const row of store.table("token").inHome(userHome(username))) activateToken(store, row, username);
}

/** Activates a seeded token. The item contains the secret, of which responses contain only the first characters. */
function activateToken(store: Store, row: Row, user: string): void {
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

/** Lifetime of an app's token, in seconds (V-174). */
const appTokenSeconds = 7200;

function storeAppToken(store: Store, user: string, { token, client, scopes }: UntypedRow): void {
  if (typeof token !== "string") return;
  const expires = store.clock.now() + appTokenSeconds * 1000;
  storeAccessToken(store, token, { user, scopes: scopesOf(String(scopes)), expires, client: String(client) });
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
      : seedRow(store, resource, home, given, at, where);
  for (const child of below) {
    const name = child.path.slice(1);
    for (const each of seedsOf(item[name], `${where}.${name}`))
      seedItem(store, child, childHome(resource.name, row.id), each, at, `${where}.${name}`);
  }
}

function seedRow(
  store: Store,
  resource: Resource,
  home: string,
  given: UntypedRow,
  at: number,
  where: string,
): Row {
  const table = tableFor(store, resource);
  const { hidden, ...members } = given;
  const id = given["id"] ?? (resource.id === "integer" ? table.nextId() : given["label"]);
  if (typeof id !== "number" && typeof id !== "string") throw new SeedError("an id is needed", where);
  const value = {
    ...defaultValues(resource.fields, at),
    ...structuredClone(members),
    ...(resource.fields["id"] && { id }),
  };
  return table.add(home, id, value, isObject(hidden) ? hidden : undefined);
}

function validateItem({ fields }: Resource, given: UntypedRow, where: string): void {
  const { hidden = {}, ...members } = given;
  if (!isObject(hidden)) throw new SeedError("hidden must be an object", where);
  const optional = Object.fromEntries(
    Object.entries(fields).map(([name, { required: _required, ...field }]) => [name, field]),
  );
  const [fieldError] = createValidator(optional)(members);
  if (fieldError) throw new SeedError(fieldError.reason, where);
}

/** Finds a resource by the last segment of its path. */
function findResourceByPath(store: Store, name: string, parent: string | undefined): Resource {
  const found = store.resources.find(
    (each) =>
      each.parent === parent && !each.table && each.path.endsWith(`/${name}`) && each.owner !== "everyone",
  );
  if (!found) throw new SeedError(`an account has no ${name}`);
  return found;
}

// An instance from seed data: with the specs of its type, addresses, and disks if it has an image.

/** Adds an instance. @throws {SeedError} if region, type or image are missing in the catalogs. */
function seedInstanceFromData(store: Store, home: string, given: UntypedRow, at: number): Row<Instance> {
  const { type = "g6-standard-1", region = "us-east", image: imageId = null, hidden, ...members } = given;
  const plan = store.table("plan").get(type)?.value;
  const image = imageId === null ? undefined : store.table("image").get(imageId)?.value;
  if (!plan || !store.table("region").get(region) || (imageId !== null && !image))
    throw new SeedError(`${String(members["label"])} has no known type, region and image`, "instances");
  const table = store.table("instance");
  const id = Number(given["id"] ?? table.nextId());
  const defaults = { group: "", tags: [], backups: false, privateIp: false };
  const newValues = newInstance(
    store,
    id,
    { plan, region: String(region), image: image?.id ?? null, ...defaults },
    at,
  );
  const status = image ? "running" : "offline";
  const value: Instance = { ...newValues, status, ...structuredClone(members) };
  const row = table.add(home, id, value, isObject(hidden) ? hidden : undefined);
  addAddressRows(store, row);
  scheduleBackup(store, row, at);
  if (!image) return row;
  const disks: Disk[] = imageDisks(image, plan.disk, 512).map((disk) => addDisk(store, id, disk, at).value);
  const config = addConfig(store, value, disks, at);
  row.hidden = { ...row.hidden, config: config.value.id };
  return row;
}
