/** Creates an instance from an image, a backup or nothing (V-150, V-161, V-162). */

import { dateTime } from "../../clock.ts";
import { stringOf, stringsOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { unknownIds } from "../../resource/find-rows.ts";
import type { Call, CallContext, Store } from "../../resource/resource-declaration.ts";
import type { TransitionStage } from "../../resource/transitions.ts";
import { finishing, startTransition, transitionSeconds } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import { parentId, publicHome } from "../../store/homes.ts";
import {
  freePrivateAddress,
  freePublicAddress,
  ipv6,
  addAddressRows,
} from "../network/address-allocation.ts";
import { scheduleBackup } from "./backup-schedule.ts";
import { addConfig, checkInterfaces, normalizeInterfaces } from "./config-profile.ts";
import type { DiskPlan } from "./disk.ts";
import { addDisk, diskJob, imageDisks } from "./disk.ts";
import { checkImage, imageOf } from "../services/image.ts";
import { booting } from "./instance-power.ts";
import type { Backup, Instance, Plan } from "../row-types.ts";

export function createInstance(call: Call): Row<Instance> {
  const { store, body, at, resource } = call;
  const plan = planOf(call);
  if (!plan) throw new Error("The type of an instance was checked before");
  const row = addInstance(call, newInstanceOptions(call, plan));
  const disks = disksFor(call, plan).map((disk) => addDisk(store, row.value.id, disk, at).value);
  const boots = disks.length > 0 && body["booted"] !== false;
  if (disks.length > 0) {
    const config = addConfig(store, row.value, disks, at, normalizeInterfaces(body["interfaces"]));
    if (boots) row.hidden = { config: config.value.id };
  }
  const stages: TransitionStage[] = [
    { status: "provisioning", durationSeconds: diskJob },
    ...(boots ? booting : [{ status: "offline", durationSeconds: 0 }]),
  ];
  const { id } = recordEvent(call, resource.create?.event ?? "", row, transitionSeconds(stages));
  startTransition(store, "instance", row, at, stages, finishing(id));
  return row;
}

function newInstanceOptions(call: Call, plan: Plan): Parameters<typeof addInstance>[1] {
  const { store, caller, body } = call;
  const forced = store.table("settings").get(caller.account)?.value["backups_enabled"] === true;
  return {
    plan,
    region: String(body["region"]),
    label: typeof body["label"] === "string" ? body["label"] : undefined,
    group: stringOf(body["group"]),
    tags: stringsOf(body["tags"]),
    image: imageOf(call)?.id ?? null,
    backups: forced || body["backups_enabled"] === true,
    privateIp: body["private_ip"] === true,
  };
}

function disksFor(call: Call, plan: Plan): readonly DiskPlan[] {
  const backup = backupOf(call);
  if (backup) return backup.disks;
  const image = imageOf(call);
  return image ? imageDisks(image, plan.disk, Number(call.body["swap_size"] ?? defaultSwap)) : [];
}

// Validation of a new instance that involves several members or the store.

/** Default size of the swap disk, in MB. */
export const defaultSwap = 512;

/** Validates the body. An unknown id is a 400 that names its member, never a 404 (V-191). */
export function checkInstance(call: Call): FieldError[] {
  const { body } = call;
  const errors = unknownIds(call, { region: "region" });
  const plan = planOf(call);
  if (body["type"] !== undefined && !plan) errors.push({ reason: "type is not valid", field: "type" });
  errors.push(...checkImage(call), ...checkSpace(call, plan));
  if (body["backup_id"] !== undefined) errors.push(...checkBackup(call, plan));
  errors.push(...checkInterfaces(body["interfaces"]), ...checkTags(call));
  return errors;
}

/** Only unrestricted users may set tags. */
function checkTags({ caller, body }: Call): FieldError[] {
  const some = Array.isArray(body["tags"]) && body["tags"].length > 0;
  return some && caller.grants ? [{ reason: "Only unrestricted users may set tags", field: "tags" }] : [];
}

function planOf({ store, body }: Call): Plan | undefined {
  return currentPlan(store, body["type"]);
}

/** Returns a plan that can be ordered. Legacy plans exist only on old instances. */
export function currentPlan(store: Store, id: unknown): Plan | undefined {
  const row = store.table("plan").get(id);
  return row?.home === publicHome ? row.value : undefined;
}

/** Returns the backup that the body names; undefined if it does not belong to the caller's account. */
function backupOf({ store, caller, body }: Call): Backup | undefined {
  const row = store.table("backup").get(body["backup_id"]);
  const source = row && store.table("instance").get(parentId(row.home));
  return source?.home === caller.account ? row?.value : undefined;
}

function checkSpace(call: Call, plan: Plan | undefined): FieldError[] {
  const image = imageOf(call);
  const swap = call.body["swap_size"] ?? defaultSwap;
  if (!image || !plan || typeof swap !== "number" || plan.disk - swap >= image.size) return [];
  return swap > defaultSwap
    ? [{ reason: "swap_size leaves too little space for the image", field: "swap_size" }]
    : [{ reason: "The type has too little space for the image", field: "type" }];
}

function checkBackup(call: Call, plan: Plan | undefined): FieldError[] {
  const { body } = call;
  const field = "backup_id";
  const backup = backupOf(call);
  if (typeof body["image"] === "string") return [{ reason: "backup_id can't be used with image", field }];
  if (!backup) return [{ reason: "backup_id is not valid", field }];
  if (backup.status !== "successful") return [{ reason: "The backup was not successful", field }];
  if (backup.region !== body["region"]) return [{ reason: "The backup is in another region", field }];
  const size = backup.disks.reduce((sum, disk) => sum + disk.size, 0);
  if (plan && size > plan.disk) return [{ reason: `The backup needs ${size} MB of disk`, field }];
  return [];
}

// The row and addresses of a new instance, for create, clone and node pools.

interface NewInstance {
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
  addAddressRows(store, row);
  scheduleBackup(store, row, at);
  return row;
}

/** Returns a new instance in status `provisioning`. */
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

/** Initial backup schedule: the service chooses day and window later. Both are null while backups are off. */
export function firstSchedule(enabled: boolean): Instance["backups"]["schedule"] {
  return enabled ? { day: "Scheduling", window: "Scheduling" } : { day: null, window: null };
}
