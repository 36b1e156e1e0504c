/** Automatic backups: one per day in the instance's window; older ones are pruned. */

import { dateTime } from "../../clock.ts";
import { childHome, parentId } from "../../store/homes.ts";
import type { TransitionStage } from "../../resource/transitions.ts";
import { startTransition, transitionSeconds } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import type { Backup, Instance } from "../row-types.ts";
import type { Store } from "../../resource/resource-declaration.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Backups start in the first 105 of a window's 120 minutes, so that they end within the window. */
const startMinutes = 105;
/** Maximum age of backups that are created retroactively after a long idle time. */
const longestGap = 35 * day;
/** Number of weekly backups that are kept in addition to the newest one. */
const weekly = 2;

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const unscheduled = "Scheduling";

const stages: readonly TransitionStage[] = [
  { status: "running", durationSeconds: 13 * 60 },
  { status: "needsPostProcessing", durationSeconds: 60 },
];

/** Returns the backup window. The service chooses one until the owner sets it. */
function windowOf({ id, backups }: Instance): string {
  const { window } = backups.schedule;
  return window === null || window === unscheduled ? `W${(id % 12) * 2}` : window;
}

/** Schedules the next backup of an instance, and cancels the previously scheduled one. */
export function scheduleBackup(store: Store, row: Row<Instance>, after: number): void {
  const { id, backups } = row.value;
  delete row.hidden?.nextBackup;
  if (!backups.enabled) return;
  const start = Number(windowOf(row.value).slice(1)) * hour + ((id * 7) % startMinutes) * minute;
  const today = Math.floor(after / day) * day + start;
  const at = today > after ? today : today + day;
  (row.hidden ??= {}).nextBackup = at;
  store.timeline.schedule({ at, table: "instance", id: row.id, job: row.job, due: true });
}

/** Returns the disks and profiles that a backup of the instance contains. */
export function contentsOf(store: Store, { id }: Row<Instance>): Pick<Backup, "configs" | "disks"> {
  const home = childHome("instance", id);
  return {
    configs: [...store.table("config").inHome(home)].map(({ value }) => value.label),
    disks: [...store.table("disk").inHome(home)].map(({ value: { size, filesystem, label } }) => ({
      size,
      filesystem,
      label,
    })),
  };
}

/** Starts a scheduled backup and schedules the next one. */
export function takeBackup(store: Store, row: Row<Instance>, at: number): void {
  if (row.hidden?.nextBackup !== at) return;
  scheduleBackup(store, row, Math.max(at, store.clock.now() - longestGap));
  const contents = contentsOf(store, row);
  if (row.value.status === "deleting" || contents.disks.length === 0) return;
  const { schedule } = row.value.backups;
  if (schedule.window === unscheduled) schedule.window = windowOf(row.value);
  if (schedule.day === unscheduled) schedule.day = days[row.value.id % days.length] ?? null;
  const table = store.table("backup");
  const id = table.nextId();
  const time = dateTime(at);
  const backup: Backup = {
    id,
    type: "auto",
    status: "pending",
    label: null,
    region: row.value.region,
    created: time,
    updated: time,
    finished: null,
    ...contents,
  };
  const finished = dateTime(at + (transitionSeconds(stages) + (stages.at(-1)?.durationSeconds ?? 0)) * 1000);
  const added = table.add(childHome("instance", row.id), id, backup);
  startTransition(store, "backup", added, at, [
    ...stages,
    { status: "successful", durationSeconds: 0, set: { finished } },
  ]);
}

/** Records a finished automatic backup on its instance and deletes the backups that it supersedes. */
export function pruneBackups(store: Store, { home, value }: Row<Backup>): void {
  const instance = store.table("instance").get(parentId(home));
  if (!instance) return;
  instance.value.backups.last_successful = value.finished;
  const { schedule } = instance.value.backups;
  const automatic = [...store.table("backup").inHome(home)].filter((each) => each.value.type === "auto");
  const older = automatic
    .filter((each) => each.value !== value && each.value.status === "successful")
    .sort((one, other) => (one.value.created < other.value.created ? 1 : -1));
  const age = ({ created }: Backup): number => Date.parse(`${value.created}Z`) - Date.parse(`${created}Z`);
  const onDay = ({ created }: Backup): boolean => days[new Date(`${created}Z`).getUTCDay()] === schedule.day;
  // Backups from before the schedule was set are selected by age.
  const backupsToKeep = new Set(
    older.filter((each) => onDay(each.value) || age(each.value) > 6.5 * day).slice(0, weekly),
  );
  for (const each of automatic)
    if (each.value !== value && !backupsToKeep.has(each)) store.table("backup").remove(each.id);
}
