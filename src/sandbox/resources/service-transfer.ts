/** Handing instances over to another account (v4, service transfers). */

import { randomUUID } from "node:crypto";
import { dateTime } from "../clock.ts";
import { invalid, notFound } from "../http/problem.ts";
import type { ActionCall, Call, Resource, CallContext } from "../resource/declaration.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import { addressesOf } from "./addresses.ts";
import type { Instance, Value } from "./shapes.ts";

const lasts = 24 * 3_600_000;

function instancesOf({ store, body }: Pick<Call, "store" | "body">): number[] {
  const entities = (body["entities"] ?? {}) as Record<string, unknown>;
  return (entities[store.names.instanceIds] ?? []) as number[];
}

function make(call: Call): Row<Value> {
  const { store, caller, at, body } = call;
  const ids = instancesOf(call);
  const field = `entities.${store.names.instanceIds}`;
  if (ids.length === 0) throw invalid(`${field} must name an instance`, field);
  const foreign = ids.filter((id) => store.table("instance").get(id)?.home !== caller.account);
  if (foreign.length > 0) throw invalid(`${field}: ${foreign.join(", ")} is not valid`, field);
  const token = randomUUID().toUpperCase();
  const time = dateTime(at);
  return store.table("serviceTransfer").add(caller.account, token, {
    token,
    status: "pending",
    created: time,
    updated: time,
    is_sender: true,
    expiry: dateTime(at + lasts),
    entities: structuredClone(body["entities"]),
  });
}

/** What nobody accepted in time is stale. */
function present({ value, home }: Row<Value>, { caller, at }: CallContext): Value {
  const stale = value["status"] === "pending" && String(value["expiry"]) <= dateTime(at);
  return { ...value, status: stale ? "stale" : value["status"], is_sender: home === caller.account };
}

function accept(call: ActionCall<Value>): void {
  const { store, caller, params, at } = call;
  const row = store.table("serviceTransfer").get(params["serviceTransfer"]);
  if (!row) throw notFound();
  if (row.home === caller.account) throw invalid("The sender can't accept a transfer");
  if (present(row, call)["status"] !== "pending") throw invalid("The transfer is not pending");
  for (const id of instancesOf({ store, body: { entities: row.value["entities"] } })) {
    const instance = store.table("instance").get(id);
    if (instance?.home === row.home) handOver(store, instance, caller.account);
  }
  Object.assign(row.value, { status: "completed", updated: dateTime(at) });
}

/** What hangs on the instance hangs on its number and comes along; addresses belong to the account. */
function handOver(store: Store, row: Row<Instance>, account: string): void {
  for (const address of addressesOf(store, row)) {
    store.table("address").remove(address.id);
    store.table("address").add(account, address.id, address.value);
  }
  store.table("instance").remove(row.id);
  store.table("instance").add(account, row.id, row.value);
}

function cancel({ row, at }: ActionCall<Value>): void {
  if (row.value["status"] !== "pending") throw invalid("The transfer is not pending");
  Object.assign(row.value, { status: "cancelled", updated: dateTime(at) });
}

export const serviceTransfer: Resource<Value> = {
  name: "serviceTransfer",
  path: "/account/service-transfers",
  id: "text",
  owner: "account",
  access: "required",
  area: "account",
  grant: "unrestricted",
  fields: {
    token: { type: "string" },
    status: { type: "string", filter: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
    is_sender: { type: "boolean", filter: true },
    expiry: { type: "date-time" },
    entities: { type: "object" },
  },
  list: {},
  read: true,
  serialize: present,
  create: {
    body: { entities: { type: "object", members: { vms: { type: "integers" } }, required: true } },
    createRow: make,
  },
  actions: [
    { method: "DELETE", path: "", run: cancel },
    {
      on: "collection",
      method: "POST",
      path: "/:serviceTransfer/accept",
      rate: { limit: 2, seconds: 60 },
      run: accept,
    },
  ],
};
