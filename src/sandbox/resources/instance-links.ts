/** What else hangs on an instance: volumes, load balancers that send to it, firewalls before it. */

import type { Row } from "../store/table.ts";
import { homeBelow } from "../resource/locate.ts";
import type { InstanceCall } from "./instance-power.ts";

export function linkedVolumes({ world, caller, row }: InstanceCall): Row<object>[] {
  return [...world.table("volume").of(caller.account)].filter(({ value }) => value.instance === row.id);
}

/** Nodes are told by the private address of the instance. */
export function linkedNodebalancers({ world, caller, row }: InstanceCall): Row<object>[] {
  const sendsHere = (address: unknown): boolean =>
    row.value.ipv4.includes(String(address).replace(/:\d+$/, ""));
  return [...world.table("nodebalancer").of(caller.account)].filter(({ id }) =>
    [...world.table("nodebalancerNode").all()].some(
      ({ value }) => value["nodebalancer_id"] === id && sendsHere(value["address"]),
    ),
  );
}

export function linkedFirewalls({ world, caller, row }: InstanceCall): Row<object>[] {
  const devices = world.table("firewallDevice");
  return [...world.table("firewall").of(caller.account)].filter(({ id }) =>
    [...devices.of(homeBelow("firewall", id))].some(({ hidden }) => hidden?.instance === row.id),
  );
}
