/** Handing instances over to another account (v4, service transfers). */

import { randomUUID } from "node:crypto";
import { dateTime } from "../clock.ts";
import { invalid, notFound } from "../http/problem.ts";
import type { ActionCall, Call, Resource, View } from "../resource/declaration.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import { addressesOf } from "./addresses.ts";
import type { Instance, Value } from "./shapes.ts";

const lasts = 24 * 3_600_000;

function instancesOf({ world, body }: Pick<Call, "world" | "body">): number[] {
  const entities = (body["entities"] ?? {}) as Record<string, unknown>;
  return (entities[world.names.instanceIds] ?? []) as number[];
}

function make(call: Call): Row<Value> {
  const { world, caller, at, body } = call;
  const ids = instancesOf(call);
  const field = `entities.${world.names.instanceIds}`;
  if (ids.length === 0) throw invalid(`${field} must name an instance`, field);
  const foreign = ids.filter((id) => world.table("instance").get(id)?.home !== caller.account);
  if (foreign.length > 0) throw invalid(`${field}: ${foreign.join(", ")} is not valid`, field);
  const token = randomUUID().toUpperCase();
  const time = dateTime(at);
  return world.table("serviceTransfer").add(caller.account, token, {
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
function present({ value, home }: Row<Value>, { caller, at }: View): Value {
  const stale = value["status"] === "pending" && String(value["expiry"]) <= dateTime(at);
  return { ...value, status: stale ? "stale" : value["status"], is_sender: home === caller.account };
}

function accept(call: ActionCall<Value>): void {
  const { world, caller, params, at } = call;
  const row = world.table("serviceTransfer").get(params["serviceTransfer"]);
  if (!row) throw notFound();
  if (row.home === caller.account) throw invalid("The sender can't accept a transfer");
  if (present(row, call)["status"] !== "pending") throw invalid("The transfer is not pending");
  for (const id of instancesOf({ world, body: { entities: row.value["entities"] } })) {
    const instance = world.table("instance").get(id);
    if (instance?.home === row.home) handOver(world, instance, caller.account);
  }
  Object.assign(row.value, { status: "completed", updated: dateTime(at) });
}

/** What hangs on the instance hangs on its number and comes along; addresses belong to the account. */
function handOver(world: World, row: Row<Instance>, account: string): void {
  for (const address of addressesOf(world, row)) {
    world.table("address").remove(address.id);
    world.table("address").add(account, address.id, address.value);
  }
  world.table("instance").remove(row.id);
  world.table("instance").add(account, row.id, row.value);
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
  present,
  create: {
    body: { entities: { type: "object", members: { vms: { type: "integers" } }, required: true } },
    make,
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
