/** What else hangs on an instance: volumes, load balancers that send to it, firewalls before it. */

import type { Row } from "../store/table.ts";
import { childHome } from "../resource/locate.ts";
import type { InstanceCall } from "./instance-power.ts";

export function linkedVolumes({ store, caller, row }: InstanceCall): Row<object>[] {
  return [...store.table("volume").inHome(caller.account)].filter(({ value }) => value.instance === row.id);
}

/** Nodes are told by the private address of the instance. */
export function linkedNodebalancers({ store, caller, row }: InstanceCall): Row<object>[] {
  const sendsHere = (address: unknown): boolean =>
    row.value.ipv4.includes(String(address).replace(/:\d+$/, ""));
  return [...store.table("nodebalancer").inHome(caller.account)].filter(({ id }) =>
    [...store.table("nodebalancerNode").all()].some(
      ({ value }) => value["nodebalancer_id"] === id && sendsHere(value["address"]),
    ),
  );
}

export function linkedFirewalls({ store, caller, row }: InstanceCall): Row<object>[] {
  const devices = store.table("firewallDevice");
  return [...store.table("firewall").inHome(caller.account)].filter(({ id }) =>
    [...devices.inHome(childHome("firewall", id))].some(({ hidden }) => hidden?.instance === row.id),
  );
}
