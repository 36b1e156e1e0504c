/** Backups and snapshots of an instance: list, create, restore, switch on and off. */

import { dateTime } from "../../clock.ts";
import { invalid } from "../../http/problem.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { childHome } from "../../store/homes.ts";
import type { ActionCall, Call, Resource } from "../../resource/resource-declaration.ts";
import type { TransitionStage } from "../../resource/transitions.ts";
import { finishing, jobStages, startTransition } from "../../resource/transitions.ts";
import type { Id, Row } from "../../store/store-table.ts";
import { contentsOf, pruneBackups, scheduleBackup } from "./backup-schedule.ts";
import { addConfig } from "./config-profile.ts";
import { addDisk, usedSpace } from "./disk.ts";
import { firstSchedule } from "./instance-create.ts";
import { deleteDisksAndConfigs } from "./instance-maintenance.ts";
import { requireWritableInstance } from "./instance-network.ts";
import type { InstanceCall } from "./instance-power.ts";
import { instanceOf, requireIdle } from "./instance-power.ts";
import type { Backup } from "../row-types.ts";

const restoring = 6;

function backupsOf(call: Call): Row<Backup>[] {
  return [...call.store.table("backup").inHome(childHome("instance", instanceOf(call).id))];
}

function guardSnapshot(call: Call): void {
  const { backups } = instanceOf(call).value;
  if (!backups.enabled) throw invalid("Backups are not enabled for this instance");
  if (backupsOf(call).some(({ value }) => value.type === "snapshot" && !finalStatuses.has(value.status)))
    throw invalid("A snapshot is in progress");
}

const snapshotStages: readonly TransitionStage[] = [
  { status: "pending", durationSeconds: 1 },
  { status: "running", durationSeconds: 4 },
  { status: "needsPostProcessing", durationSeconds: 1 },
];
const snapshotTakes = 6;

/** Starts a snapshot, which replaces the previous one after it has finished. */
function takeSnapshot(call: Call, row: Row<Backup>, event: Id | undefined): void {
  const { store, at } = call;
  const ends = at + snapshotTakes * 1000;
  const before = backupsOf(call).filter((each) => each !== row && each.value.type === "snapshot");
  const stages = [
    ...snapshotStages,
    { status: "successful", durationSeconds: 0, set: { finished: dateTime(ends) } },
  ];
  startTransition(store, "backup", row, at, stages, finishing(event));
  for (const { id, job } of before)
    store.timeline.schedule({ at: ends, table: "backup", id, job, drop: true });
}

/** Restores a backup: replaces the target's disks and profiles, or adds to them if the free space is sufficient. */
function restoreBackup(call: ActionCall<Backup>): void {
  const { store, body, row, at, action } = call;
  const { vmId } = store.names;
  const target = requireWritableInstance(call, body[vmId], vmId);
  const { disks, status, region } = row.value;
  if (status !== "successful") throw invalid("The backup was not successful");
  if (target.value.region !== region) throw invalid("The instance is in another region", vmId);
  requireIdle({ store, row: target });
  const needed = disks.reduce((sum, { size }) => sum + size, 0);
  const overwrite = body["overwrite"] === true;
  const used = overwrite ? 0 : usedSpace(store, target.value.id);
  if (target.value.specs.disk - used < needed)
    throw invalid(`${needed} MB are needed; set overwrite, or make room`, overwrite ? vmId : "overwrite");
  if (overwrite) deleteDisksAndConfigs(store, target);
  const newDisks = disks.map((disk) => addDisk(store, target.value.id, disk, at).value);
  addConfig(store, target.value, newDisks, at);
  const { id } = recordEvent(call, action.event ?? "", row, restoring);
  const back = overwrite ? "offline" : target.value.status;
  const stages = jobStages("restoring", restoring, back);
  startTransition(store, "instance", target, at, stages, finishing(id));
}

export const backup: Resource<Backup> = {
  name: "backup",
  path: "/backups",
  parent: "instance",
  id: "integer",
  owner: "account",
  access: "required",
  area: "vms",
  entity: { type: "backups", url: "/v4/vm/instances/{id}", ofParent: true },
  fields: {
    id: { type: "integer" },
    type: { type: "string", values: ["auto", "snapshot"], default: "snapshot" },
    status: { type: "string" },
    label: { type: "string", min: 1, max: 255, required: true, create: true },
    region: { type: "string" },
    created: { type: "date-time" },
    updated: { type: "date-time" },
    finished: { type: "date-time", nullable: true },
    configs: { type: "strings" },
    disks: { type: "objects" },
  },
  read: true,
  afterTransition(row, store, before) {
    const { type, status } = row.value;
    if (type === "auto" && status === "successful" && before.status !== status) pruneBackups(store, row);
  },
  create: {
    event: "vm_snapshot",
    checkPreconditions: guardSnapshot,
    computeMembers(call) {
      const instance = instanceOf(call);
      const { region } = instance.value;
      return { status: "pending", region, ...contentsOf(call.store, instance) };
    },
    durationSeconds: snapshotTakes,
    afterCreate: takeSnapshot,
  },
  actions: [
    {
      method: "POST",
      path: "/restore",
      body: { vm_id: { type: "integer", required: true }, overwrite: { type: "boolean" } },
      event: "backups_restore",
      run: restoreBackup,
    },
  ],
};

// Instance actions: list all backups as one object, enable and cancel the service.

/** Final states of a backup. Any other status means that it is in progress. */
const finalStatuses = new Set(["successful", "failed", "userAborted"]);

export function listBackups({ store, row }: InstanceCall): object {
  const all = [...store.table("backup").inHome(childHome("instance", row.id))].map(({ value }) => value);
  const snapshots = all.filter(({ type }) => type === "snapshot");
  const newest = (fits: (backup: Backup) => boolean) => snapshots.findLast(fits) ?? null;
  return {
    automatic: all.filter(({ type }) => type === "auto"),
    snapshot: {
      in_progress: newest(({ status }) => !finalStatuses.has(status)),
      current: newest(({ status }) => finalStatuses.has(status)),
    },
  };
}

export function enableBackups({ action, ...call }: InstanceCall): void {
  const { backups } = call.row.value;
  if (backups.enabled) return;
  backups.enabled = true;
  backups.schedule = firstSchedule(true);
  scheduleBackup(call.store, call.row, call.at);
  recordEvent(call, action.event ?? "", call.row);
}

/** Switches backups off and deletes all backups of the instance permanently. */
export function disableBackups({ action, ...call }: InstanceCall): void {
  const { backups } = call.row.value;
  if (!backups.enabled) return;
  delete call.row.hidden?.nextBackup;
  Object.assign(backups, { enabled: false, schedule: firstSchedule(false), last_successful: null });
  call.store.table("backup").removeAll(childHome("instance", call.row.id));
  recordEvent(call, action.event ?? "", call.row);
}
