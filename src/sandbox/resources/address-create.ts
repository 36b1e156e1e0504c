/** POST /networking/ips: an address more for an instance. */

import { invalid } from "../http/problem.ts";
import type { Call } from "../resource/declaration.ts";
import { requireAccess } from "../resource/grants.ts";
import type { Row } from "../store/table.ts";
import { addIp } from "./instance-addresses.ts";
import type { Address, Instance } from "./shapes.ts";

/** @throws {Problem} 400 naming the instance where it is not the caller's. */
export function ownInstance(call: Call, id: unknown, field: string): Row<Instance> {
  const row = call.store.table("instance").get(id);
  if (row?.home !== call.caller.account) throw invalid(`${field} is not valid`, field);
  requireAccess(call.store.resource("instance"), row, "read_write", call);
  return row;
}

export function addIpTo(call: Call): Row<Address> {
  const { store, body } = call;
  const { vmId } = store.names;
  const row = ownInstance(call, body[vmId], vmId);
  const instance = store.resource("instance");
  const action = instance.actions?.find(({ path, method }) => path === "/ips" && method === "POST");
  if (!action) throw new Error("An instance takes no addresses");
  return addIp({ ...call, resource: instance, row, action });
}
