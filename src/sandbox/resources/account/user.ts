/** Users of an account and their grants (V-060 to V-062, V-106 to V-109). */

import { createHash } from "node:crypto";
import type { Field, Fields } from "../../fields/field.ts";
import { objectOf, objectsOf } from "../../fields/typed-values.ts";
import { emptyGrants, revokeTokens } from "../../http/authentication.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { toEntity } from "../../resource/event-log.ts";
import { userHome } from "../../store/homes.ts";
import type { ActionCall, Call, Resource, RowCall, Store } from "../../resource/resource-declaration.ts";
import type { Row, Table } from "../../store/store-table.ts";
import type { RowTypes, User } from "../row-types.ts";

// Avatar id: a hash of the user name.

export function avatarOf(username: string): string {
  return createHash("md5").update(username).digest("hex");
}

// Profile defaults of a new user.

export function newProfile(uid: number, username: string): Omit<User, "username" | "email" | "restricted"> {
  const code = createHash("sha1").update(username).digest("hex");
  return {
    uid,
    ssh_keys: [],
    tfa_enabled: false,
    timezone: "UTC",
    email_notifications: true,
    referrals: {
      code,
      url: `https://www.example.com/?r=${code}`,
      total: 0,
      completed: 0,
      pending: 0,
      credit: 0,
    },
    ip_whitelist_enabled: false,
    lish_auth_method: "keys_only",
    authorized_keys: null,
    authentication_type: "password",
  };
}

// The grants object: global flags and an access level per entity.

const flags = [
  "add_vms",
  "add_longview",
  "longview_subscription",
  "cancel_account",
  "add_domains",
  "add_stackscripts",
  "add_nodebalancers",
  "add_images",
  "add_volumes",
  "add_firewalls",
];
const kinds = ["vm", "domain", "nodebalancer", "image", "longview", "stackscript", "volume", "firewall"];
const level: Field = { type: "string", nullable: true, values: ["read_only", "read_write"] };
const boolean: Field = { type: "boolean" };

const grantList: Field = {
  type: "objects",
  max: 10_000,
  members: { id: { type: "integer", required: true }, permissions: { ...level, required: true } },
};

const grantsBody: Fields = {
  global: {
    type: "object",
    members: {
      ...Object.fromEntries(flags.map((flag) => [flag, boolean])),
      account_access: level,
    },
  },
  ...Object.fromEntries(kinds.map((kind) => [kind, grantList])),
};

/**
 * Returns the grants object of a user. @param which `all` includes entities without access.
 * @returns The grants; null for an unrestricted user.
 */
export function readGrants(store: Store, row: Row<User>, which: "all" | "granted"): object | null {
  if (!row.value.restricted) return null;
  const { global, entities } = row.hidden?.grants ?? emptyGrants();
  const lists = Object.keys(bodyOf(store)).filter((kind) => kind !== "global");
  return {
    global: Object.fromEntries(
      Object.entries(bodyOf(store)["global"]?.members ?? {}).map(([name, { type }]) => [
        name,
        global[name] ?? (type === "boolean" ? false : null),
      ]),
    ),
    ...Object.fromEntries(
      lists.map((kind) => {
        const all = grantable(store, kind, row.home).map(({ id, label }) => ({
          id,
          label,
          permissions: entities[kind]?.[id] ?? null,
        }));
        return [kind, which === "all" ? all : all.filter(({ permissions }) => permissions !== null)];
      }),
    ),
  };
}

/** Updates grants. Entities that the body omits keep their level; labels are ignored. */
function writeGrants(call: ActionCall<User>): object | null {
  const { store, row, body } = call;
  if (!row.value.restricted) throw invalid("An unrestricted user has no grants");
  const grants = ((row.hidden ??= {}).grants ??= emptyGrants());
  const { global, ...lists } = body;
  for (const [name, value] of Object.entries(objectOf(global))) {
    if (Object.hasOwn(bodyOf(store)["global"]?.members ?? {}, name)) grants.global[name] = value;
  }
  for (const [kind, wanted] of Object.entries(lists)) {
    if (!Object.hasOwn(bodyOf(store), kind)) continue;
    const knownIds = new Set(grantable(store, kind, row.home).map(({ id }) => id));
    const current = (grants.entities[kind] ??= {});
    for (const { id: given, permissions } of objectsOf(wanted)) {
      const id = Number(given);
      if (!knownIds.has(id)) throw invalid(`${kind}: ${id} is not valid`, kind);
      if (permissions === "read_only" || permissions === "read_write") current[id] = permissions;
      else delete current[id];
    }
  }
  return readGrants(store, row, "all");
}

/** Returns the declared body in the configured product words. */
function bodyOf(store: Store): Fields {
  const write = store
    .resource("user")
    .actions?.find(({ method, path }) => method === "PUT" && path === "/grants");
  return write?.body ?? {};
}

function grantable(store: Store, kind: string, account: string): { id: number; label: string }[] {
  return store.resources.flatMap((resource) => {
    const { grant, name, entity } = resource;
    if (typeof grant !== "object" || grant.entity !== kind || !entity) return [];
    return [...store.table(name).inHome(account)].map((row) => {
      const { id, label } = toEntity(resource, row);
      return { id, label };
    });
  });
}

/** Tables whose rows belong to a user, not to the account. */
const ownTables = ["token", "access"] as const;

function changed({ store, row }: RowCall<User>, before: User): void {
  const { value } = row;
  if (value.restricted !== before.restricted) {
    row.hidden = { ...row.hidden };
    // A user who becomes restricted starts without grants; an unrestricted user needs none.
    if (value.restricted) row.hidden.grants = emptyGrants();
    else delete row.hidden.grants;
  }
  if (value.username !== before.username) rename(store, row, before.username);
}

/** Moves all rows of a user to the new user name. */
function rename(store: Store, { home, value, hidden }: RowCall<User>["row"], from: string): void {
  const to = value.username;
  store.table("user").remove(from);
  store.table("user").add(home, to, value, hidden);
  for (const name of ownTables) {
    const table: Table = store.table<keyof RowTypes>(name);
    for (const row of table.inHome(userHome(from))) {
      table.remove(row.id);
      table.add(userHome(to), row.id, name === "access" ? { ...row.value, user: to } : row.value, row.hidden);
    }
  }
}

/** Whether the account has a second unrestricted user. */
function hasOtherOwner({ store, row }: RowCall<User>): boolean {
  return [...store.table("user").inHome(row.home)].some((each) => each !== row && !each.value.restricted);
}

/** `ssh_keys` may only list labels of keys that users of the account have added. */
function checkKeys({ store, caller, body }: Call): FieldError[] {
  const given: unknown[] = Array.isArray(body["ssh_keys"]) ? body["ssh_keys"] : [];
  if (given.length === 0) return [];
  const users = [...store.table("user").inHome(caller.account)];
  const knownIds = new Set<unknown>(users.flatMap(({ value }) => value.ssh_keys));
  const field = "ssh_keys";
  const unknown = given.filter((label) => typeof label === "string" && !knownIds.has(label));
  return unknown.map((label) => ({ reason: `There is no SSH key ${String(label)}`, field }));
}

export const user: Resource<User> = {
  name: "user",
  path: "/account/users",
  id: "text",
  owner: "account",
  access: "required",
  area: "account",
  grant: "unrestricted",
  entity: {
    type: "user",
    url: "/v4/account/users/{id}",
    id: ({ uid }) => uid,
    label: ({ username }) => username,
  },
  fields: {
    username: {
      type: "string",
      min: 3,
      max: 32,
      pattern: "[a-zA-Z0-9](?:(?![_-]{2,})[a-zA-Z0-9_-])+[a-zA-Z0-9]",
      required: true,
      unique: "everywhere",
      filter: true,
      write: true,
    },
    email: { type: "string", max: 128, pattern: "[^@\\s]+@[^@\\s]+", required: true, create: true },
    restricted: { type: "boolean", write: true },
    ssh_keys: { type: "strings", max: 100, write: true },
    tfa_enabled: { type: "boolean" },
  },
  list: {},
  read: true,
  serialize({ value }) {
    const { username, email, restricted, ssh_keys: keys, tfa_enabled: tfa } = value;
    return { username, email, restricted, ssh_keys: keys, tfa_enabled: tfa };
  },
  create: {
    event: "user_create",
    validate: checkKeys,
    maxRows: 500,
    id: ({ body }) => String(body["username"]),
    computeMembers: ({ store, body }) =>
      newProfile(store.table("user").nextId() + 40_500, String(body["username"])),
  },
  update: {
    event: "user_update",
    validate: checkKeys,
    checkPreconditions(call) {
      const { row, body } = call;
      if (body["restricted"] === true && !row.value.restricted && !hasOtherOwner(call))
        throw invalid("The last unrestricted user can't be restricted", "restricted");
    },
    afterUpdate: changed,
  },
  remove: {
    event: "user_delete",
    checkPreconditions(call) {
      if (!call.row.value.restricted && !hasOtherOwner(call))
        throw invalid("The last unrestricted user can't be deleted");
    },
  },
  actions: [
    { method: "GET", path: "/grants", run: ({ store, row }) => readGrants(store, row, "all") },
    { method: "PUT", path: "/grants", body: grantsBody, run: writeGrants },
  ],
  afterDelete({ value }, store) {
    const { username } = value;
    revokeTokens(store, (access) => access.user === username);
    for (const name of ownTables) store.table(name).removeAll(userHome(username));
  },
};
