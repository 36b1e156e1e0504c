/** The backups of an instance as one object, and switching them on and off (v4, Backups). */

import { recordEvent } from "../resource/events.ts";
import { childHome } from "../resource/locate.ts";
import { planBackup } from "./backup-schedule.ts";
import { firstSchedule } from "./instance-make.ts";
import type { InstanceCall } from "./instance-power.ts";
import type { Backup } from "./shapes.ts";

/** A snapshot is in progress until it succeeded, failed or was given up. */
export const ended = new Set(["successful", "failed", "userAborted"]);

export function listBackups({ store, row }: InstanceCall): object {
  const all = [...store.table("backup").inHome(childHome("instance", row.id))].map(({ value }) => value);
  const snapshots = all.filter(({ type }) => type === "snapshot");
  const newest = (fits: (backup: Backup) => boolean) => snapshots.findLast(fits) ?? null;
  return {
    automatic: all.filter(({ type }) => type === "auto"),
    snapshot: {
      in_progress: newest(({ status }) => !ended.has(status)),
      current: newest(({ status }) => ended.has(status)),
    },
  };
}

export function enableBackups({ action, ...call }: InstanceCall): void {
  const { backups } = call.row.value;
  if (backups.enabled) return;
  backups.enabled = true;
  backups.schedule = firstSchedule(true);
  planBackup(call.store, call.row, call.at);
  recordEvent(call, action.event ?? "", call.row);
}

/** Deletes every backup of the instance for good. */
export function disableBackups({ action, ...call }: InstanceCall): void {
  const { backups } = call.row.value;
  if (!backups.enabled) return;
  delete call.row.hidden?.nextBackup;
  Object.assign(backups, { enabled: false, schedule: firstSchedule(false), last_successful: null });
  call.store.table("backup").removeAll(childHome("instance", call.row.id));
  recordEvent(call, action.event ?? "", call.row);
}
