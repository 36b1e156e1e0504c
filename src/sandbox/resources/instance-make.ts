/** The row of a new instance, with its addresses: for create, clone and node pools. */

import { dateTime } from "../clock.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import type { View } from "../resource/declaration.ts";
import { freePrivateAddress, freePublicAddress, ipv6, keepAddresses } from "./addresses.ts";
import { planBackup } from "./backup-schedule.ts";
import type { Instance, Plan } from "./shapes.ts";

export interface NewInstance {
  readonly plan: Plan;
  readonly region: string;
  readonly label?: string | undefined;
  readonly group: string;
  readonly tags: string[];
  readonly image: string | null;
  readonly backups: boolean;
  readonly privateIp: boolean;
}

export function addInstance({ world, caller, at }: View, given: NewInstance): Row<Instance> {
  const id = world.table("instance").nextId();
  const row = world.table("instance").add(caller.account, id, newInstance(world, id, given, at));
  keepAddresses(world, row);
  planBackup(world, row, at);
  return row;
}

/** What a new instance has, before anything is done to it. */
export function newInstance(world: World, id: number, given: NewInstance, at: number): Instance {
  const { disk, memory, vcpus, transfer, gpus } = given.plan;
  return {
    id,
    label: given.label ?? `${world.names.label}${id}`,
    group: given.group,
    tags: given.tags,
    region: given.region,
    image: given.image,
    type: given.plan.id,
    status: "provisioning",
    hypervisor: "kvm",
    created: dateTime(at),
    updated: dateTime(at),
    ipv4: [
      freePublicAddress(world, given.region, id),
      ...(given.privateIp ? [freePrivateAddress(world, id)] : []),
    ],
    ipv6: ipv6(world, given.region, id),
    specs: { disk, memory, vcpus, transfer, gpus },
    alerts: { cpu: 90 * vcpus, network_in: 10, network_out: 10, transfer_quota: 80, io: 10_000 },
    backups: { enabled: given.backups, schedule: firstSchedule(given.backups), last_successful: null },
    watchdog_enabled: true,
  };
}

/** Day and window are chosen later by the service; while backups are off there are none. */
export function firstSchedule(enabled: boolean): Instance["backups"]["schedule"] {
  return enabled ? { day: "Scheduling", window: "Scheduling" } : { day: null, window: null };
}
