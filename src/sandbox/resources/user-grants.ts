/** Grants as clients read and write them: flags for the account, and a level for each entity (v4, Grants). */

import { invalid } from "../http/problem.ts";
import type { ActionCall } from "../resource/declaration.ts";
import { emptyGrants } from "../resource/identity.ts";
import type { Field, Fields } from "../rules/field.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import { toEntity } from "../resource/events.ts";
import type { Level } from "./hidden.ts";
import type { User } from "./shapes.ts";

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

export const grantsBody: Fields = {
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
 * @param which `all` lists every entity of the account, also those without access.
 * @returns Null for an unrestricted user, who needs none.
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

/** What is not mentioned keeps its level; labels are ignored. */
export function writeGrants(call: ActionCall<User>): object | null {
  const { store, row, body } = call;
  if (!row.value.restricted) throw invalid("An unrestricted user has no grants");
  const grants = ((row.hidden ??= {}).grants ??= emptyGrants());
  const { global, ...lists } = body as Record<string, unknown>;
  for (const [name, value] of Object.entries((global ?? {}) as Record<string, boolean | string | null>)) {
    if (Object.hasOwn(bodyOf(store)["global"]?.members ?? {}, name)) grants.global[name] = value;
  }
  for (const [kind, wanted] of Object.entries(lists)) {
    if (!Object.hasOwn(bodyOf(store), kind)) continue;
    const known = new Set(grantable(store, kind, row.home).map(({ id }) => id));
    const held = (grants.entities[kind] ??= {});
    for (const { id, permissions } of wanted as { id: number; permissions: Level | null }[]) {
      if (!known.has(id)) throw invalid(`${kind}: ${id} is not valid`, kind);
      if (permissions === null) delete held[id];
      else held[id] = permissions;
    }
  }
  return readGrants(store, row, "all");
}

/** The declared body, in the service's own words. */
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
