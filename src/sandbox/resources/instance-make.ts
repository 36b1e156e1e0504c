/** The row of a new instance, with its addresses: for create, clone and node pools. */

import { dateTime } from "../clock.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import type { CallContext } from "../resource/declaration.ts";
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

export function addInstance({ store, caller, at }: CallContext, given: NewInstance): Row<Instance> {
  const id = store.table("instance").nextId();
  const row = store.table("instance").add(caller.account, id, newInstance(store, id, given, at));
  keepAddresses(store, row);
  planBackup(store, row, at);
  return row;
}

/** What a new instance has, before anything is done to it. */
export function newInstance(store: Store, id: number, given: NewInstance, at: number): Instance {
  const { disk, memory, vcpus, transfer, gpus } = given.plan;
  return {
    id,
    label: given.label ?? `${store.names.label}${id}`,
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
      freePublicAddress(store, given.region, id),
      ...(given.privateIp ? [freePrivateAddress(store, id)] : []),
    ],
    ipv6: ipv6(store, given.region, id),
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
