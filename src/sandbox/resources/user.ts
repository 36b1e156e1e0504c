/** The users of an account and their grants (document 1, Users). */

import type { FieldError } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import type { Call, RowCall, Resource } from "../resource/declaration.ts";
import { emptyGrants, revokeTokens } from "../resource/identity.ts";
import { userHome } from "../resource/locate.ts";
import type { Table } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import type { User } from "./shapes.ts";
import { grantsBody, readGrants, writeGrants } from "./user-grants.ts";
import { newProfile } from "./user-profile.ts";

/** What belongs to a user and not to the account. */
const ownTables = ["token", "app", "sshKey", "device", "access"] as const;

function changed({ store, row }: RowCall<User>, before: User): void {
  const { value } = row;
  if (value.restricted !== before.restricted) {
    row.hidden = { ...row.hidden };
    // Nothing is granted by being made restricted, and nothing needs to be otherwise.
    if (value.restricted) row.hidden.grants = emptyGrants();
    else delete row.hidden.grants;
  }
  if (value.username !== before.username) rename(store, row, before.username);
}

/** Everything that a user has goes along with a new name. */
function rename(store: Store, { home, value, hidden }: RowCall<User>["row"], from: string): void {
  const to = value.username;
  store.table("user").remove(from);
  store.table("user").add(home, to, value, hidden);
  for (const name of ownTables) {
    const table = store.table(name) as Table<object>;
    for (const row of table.inHome(userHome(from))) {
      table.remove(row.id);
      table.add(userHome(to), row.id, name === "access" ? { ...row.value, user: to } : row.value, row.hidden);
    }
  }
}

/** Whether another unrestricted user is left, who can do everything (document 1, Users). */
function hasOtherOwner({ store, row }: RowCall<User>): boolean {
  return [...store.table("user").inHome(row.home)].some((each) => each !== row && !each.value.restricted);
}

/** Labels of keys that the users of the account have added. */
function checkKeys({ store, caller, body }: Call): FieldError[] {
  const given = Array.isArray(body["ssh_keys"]) ? (body["ssh_keys"] as unknown[]) : [];
  if (given.length === 0) return [];
  const users = [...store.table("user").inHome(caller.account)];
  const known = new Set<unknown>(users.flatMap(({ value }) => value.ssh_keys));
  const field = "ssh_keys";
  const unknown = given.filter((label) => typeof label === "string" && !known.has(label));
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
    id: (value) => (value as User).uid,
    label: (value) => (value as User).username,
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
    const { username } = value as User;
    revokeTokens(store, (access) => access.user === username);
    for (const name of ownTables) store.table(name).removeAll(userHome(username));
  },
};
