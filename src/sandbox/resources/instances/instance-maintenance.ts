/** Resize, free upgrade (mutate), migration and rebuild of an instance (V-122 to V-130). */

import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { childHome } from "../../store/homes.ts";
import type { TransitionStage } from "../../resource/transitions.ts";
import { deleteCascade } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import { requireNoOutstandingBalance } from "../account/account.ts";
import { addConfig } from "./config-profile.ts";
import { addDisk, growDisk, imageDisks, usedSpace } from "./disk.ts";
import { checkImage, imageOf } from "../services/image.ts";
import { currentPlan, defaultSwap } from "./instance-create.ts";
import type { InstanceCall } from "./instance-power.ts";
import { booting, startInstanceJob, isOff, requireIdle, shuttingDown } from "./instance-power.ts";
import type { Disk, Instance, Plan, Region } from "../row-types.ts";
import type { Store } from "../../resource/resource-declaration.ts";

const moving = 5;

export function resize(call: InstanceCall): void {
  const { store, row, body, action } = call;
  const plan = currentPlan(store, body["type"]);
  if (!plan) throw invalid("type is not valid", "type");
  if (plan.id === row.value.type) throw invalid("The instance has this type already", "type");
  requireNoOutstandingBalance(call);
  if (row.hidden?.migration) throw invalid("A migration is pending for this instance");
  requireIdle(call);
  changePlan(call, plan, store.names.resized, action.event);
}

export function mutate(call: InstanceCall): void {
  const { store, row, action } = call;
  const plan = successorOf(call);
  if (!plan) throw invalid("There is no free upgrade for the type of this instance");
  requireIdle(call);
  if (row.hidden?.migration) throw invalid("A migration is pending for this instance");
  changePlan(call, plan, store.names.mutated, action.event);
}

/** Returns the plan of the free upgrade, if the instance's type has one. */
function successorOf({ store, row }: InstanceCall): Plan | undefined {
  const current = store.table("plan").get(row.value.type)?.value;
  return store.table("plan").get(current?.successor ?? undefined)?.value;
}

/** Returns the members of an instance that its plan determines. */
export function planMembers({ id, disk, memory, vcpus, transfer, gpus }: Plan): object {
  return { type: id, specs: { disk, memory, vcpus, transfer, gpus } };
}

function changePlan(call: InstanceCall, plan: Plan, event: string, begun = ""): void {
  const { store, row, body } = call;
  const grown = body["allow_auto_disk_resize"] === false ? undefined : onlySystemDisk(call);
  const free = plan.disk - usedSpace(store, row.value.id);
  if (free < 0 && (!grown || grown.value.size + free < 1))
    throw invalid(`The disks need ${-free} MB more than the type has; shrink or delete some`, "type");
  if (grown) growDisk(store, grown, { size: grown.value.size + free, durationSeconds: moving }, call.at);
  recordEvent(call, begun, row);
  const back = row.value.status;
  startInstanceJob(
    call,
    [
      { status: "migrating", durationSeconds: moving },
      { status: back, durationSeconds: 0, set: planMembers(plan) },
    ],
    event,
  );
}

/** Returns the disk that grows with the plan: the only ext disk, if all other disks are swap disks. */
function onlySystemDisk({ store, row }: InstanceCall): Row<Disk> | undefined {
  const disks = [...store.table("disk").inHome(childHome("instance", row.id))];
  const others = disks.filter(({ value }) => value.filesystem !== "swap");
  return others.length === 1 && others[0]?.value.filesystem.startsWith("ext") ? others[0] : undefined;
}

// Migration to another host, as planned by the provider, or to another region (V-122 to V-130).

const movingHost = 5;
const movingRegion = 10;

export function migrate(call: InstanceCall): void {
  const { store, row, body, action } = call;
  const region = targetRegion(call);
  const upgraded = body["upgrade"] === true ? upgrade(call, region) : {};
  if (!region && row.hidden?.migration === undefined)
    throw invalid("No migration is pending for this instance");
  if (region) requireMovableAddresses(call, region);
  requireIdle(call);
  // A migration to another region replaces a planned host migration.
  delete row.hidden?.migration;
  if (!region)
    return startInstanceJob(call, stages(row.value, movingHost, upgraded), store.names.migrateScheduled);
  recordEvent(call, action.event ?? "", row);
  const moved = { ...upgraded, region: region.id };
  startInstanceJob(call, stages(row.value, movingRegion, moved), store.names.migrateDatacenter);
}

/** Returns the stages of a migration: a running instance is shut down first and booted afterwards. */
function stages({ status }: Instance, moving: number, set: object): TransitionStage[] {
  const off = isOff({ value: { status } });
  const begin = off ? [] : [shuttingDown];
  const end = off ? [{ status, durationSeconds: 0, set }] : [{ ...booting[0], set }, booting[1]];
  return [...begin, { status: "migrating", durationSeconds: moving }, ...end];
}

function targetRegion({ store, row, body }: InstanceCall): Region | undefined {
  const id = body["region"];
  if (id === undefined) return undefined;
  const region = store.table("region").get(id)?.value;
  if (!region) throw invalid("region is not valid", "region");
  if (id === row.value.region) throw invalid("The instance is in this region already", "region");
  return region;
}

function upgrade(call: InstanceCall, region: Region | undefined): object {
  const plan = successorOf(call);
  if (!plan) throw invalid("There is no free upgrade for the type of this instance", "upgrade");
  const target = call.store.table("region").get(region?.id ?? call.row.value.region);
  if (target?.hidden?.noUpgrades) throw invalid(`${String(target.id)} allows no upgrades`, "upgrade");
  return planMembers(plan);
}

/** Checks that the target region, if it has VLANs, gets no /116 pool and no IP failover, which it does not support. */
function requireMovableAddresses({ store, row }: InstanceCall, region: Region): void {
  if (!region.capabilities.includes("Vlans")) return;
  const remedy = "choose another data center or contact support";
  if (usesPool(store, row.value.id))
    throw invalid(`${region.id} has no IPv6 /116 pools; ${remedy}`, "region");
  if (usesFailover(store, row.value)) throw invalid(`${region.id} has no IP failover; ${remedy}`, "region");
}

function usesPool(store: Store, instance: number): boolean {
  return [...store.table("range").all()].some(
    ({ value }) => value.pool && value.prefix === 116 && value.instances.includes(instance),
  );
}

/** Whether the instance uses addresses of a different instance, or a different one uses its addresses. */
function usesFailover(store: Store, { id, ipv4 }: Instance): boolean {
  const shares = (shared: string[] = []): boolean => shared.some((each) => ipv4.includes(each));
  return [...store.table("instance").all()].some(
    (other) => (other.id === id && (other.hidden?.shared ?? []).length > 0) || shares(other.hidden?.shared),
  );
}

// Rebuild: replaces the disks and profiles of an instance with those of an image.

const rebuilding = 3;

export function checkRebuild(call: InstanceCall): FieldError[] {
  const errors = checkImage(call);
  const image = imageOf(call);
  if (image && image.size + defaultSwap > call.row.value.specs.disk)
    errors.push({ reason: "The instance has too little space for the image", field: "image" });
  return errors;
}

export function rebuild(call: InstanceCall): Row<Instance> {
  const { store, row, at, body } = call;
  requireIdle(call);
  const image = imageOf(call);
  if (!image) throw new Error("The image of a rebuild was checked before");
  deleteDisksAndConfigs(store, row);
  const disks = imageDisks(image, row.value.specs.disk, defaultSwap).map(
    (disk) => addDisk(store, row.value.id, disk, at).value,
  );
  const config = addConfig(store, row.value, disks, at);
  row.hidden = { ...row.hidden, config: config.value.id };
  const off = { status: "offline", durationSeconds: 0 };
  const set = { image: image.id };
  startInstanceJob(call, [
    { status: "rebuilding", durationSeconds: rebuilding, set },
    ...(body["booted"] === false ? [off] : booting),
  ]);
  return row;
}

/** Deletes all disks and profiles of an instance. */
export function deleteDisksAndConfigs(store: Store, { id }: Row<Instance>): void {
  for (const name of ["disk", "config"] as const) {
    for (const below of store.table(name).inHome(childHome("instance", id)))
      deleteCascade(store, name, below);
  }
}
