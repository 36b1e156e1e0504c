/** Automatic backups: one a day in the window of the instance, of which a few are kept (v4, Backups). */

import { dateTime } from "../clock.ts";
import { homeBelow, idAbove } from "../resource/locate.ts";
import type { TransitionStage } from "../resource/transitions.ts";
import { transitionSeconds, startTransition } from "../resource/transitions.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import type { Backup, Instance } from "./shapes.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Of a window's two hours the last quarter is left for the backup itself. */
const startMinutes = 105;
/** What nobody has looked at for longer is not made up for. */
const longestGap = 35 * day;
/** Beside the newest one so many of those are kept that were taken on the day of the week. */
const weekly = 2;

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const unchosen = "Scheduling";

const stages: readonly TransitionStage[] = [
  { status: "running", takes: 13 * 60 },
  { status: "needsPostProcessing", takes: 60 },
];

/** Until the owner chooses, the service does. */
function windowOf({ id, backups }: Instance): string {
  const { window } = backups.schedule;
  return window === null || window === unchosen ? `W${(id % 12) * 2}` : window;
}

/** Plans the next backup of an instance; one that was planned before is not taken. */
export function planBackup(world: World, row: Row<Instance>, after: number): void {
  const { id, backups } = row.value;
  delete row.hidden?.nextBackup;
  if (!backups.enabled) return;
  const start = Number(windowOf(row.value).slice(1)) * hour + ((id * 7) % startMinutes) * minute;
  const today = Math.floor(after / day) * day + start;
  const at = today > after ? today : today + day;
  (row.hidden ??= {}).nextBackup = at;
  world.timeline.plan({ at, table: "instance", id: row.id, job: row.job, due: true });
}

/** What a backup of the instance holds. */
export function contentsOf(world: World, { id }: Row<Instance>): Pick<Backup, "configs" | "disks"> {
  const home = homeBelow("instance", id);
  return {
    configs: [...world.table("config").of(home)].map(({ value }) => value.label),
    disks: [...world.table("disk").of(home)].map(({ value: { size, filesystem, label } }) => ({
      size,
      filesystem,
      label,
    })),
  };
}

/** The time of a backup has come. */
export function takeBackup(world: World, row: Row<Instance>, at: number): void {
  if (row.hidden?.nextBackup !== at) return;
  planBackup(world, row, Math.max(at, world.clock.now() - longestGap));
  const contents = contentsOf(world, row);
  if (row.value.status === "deleting" || contents.disks.length === 0) return;
  const { schedule } = row.value.backups;
  if (schedule.window === unchosen) schedule.window = windowOf(row.value);
  if (schedule.day === unchosen) schedule.day = days[row.value.id % days.length] ?? null;
  const table = world.table("backup");
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
  const finished = dateTime(at + (transitionSeconds(stages) + (stages.at(-1)?.takes ?? 0)) * 1000);
  const added = table.add(homeBelow("instance", row.id), id, backup);
  startTransition(world, "backup", added, at, [
    ...stages,
    { status: "successful", takes: 0, set: { finished } },
  ]);
}

/** An automatic backup is done: it is the last one, and those that it takes the place of go. */
export function keepBackups(world: World, { home, value }: Row<Backup>): void {
  const instance = world.table("instance").get(idAbove(home));
  if (!instance) return;
  instance.value.backups.last_successful = value.finished;
  const { schedule } = instance.value.backups;
  const automatic = [...world.table("backup").of(home)].filter((each) => each.value.type === "auto");
  const older = automatic
    .filter((each) => each.value !== value && each.value.status === "successful")
    .sort((one, other) => (one.value.created < other.value.created ? 1 : -1));
  const age = ({ created }: Backup): number => Date.parse(`${value.created}Z`) - Date.parse(`${created}Z`);
  const onDay = ({ created }: Backup): boolean => days[new Date(`${created}Z`).getUTCDay()] === schedule.day;
  // Those of before the schedule count by their age.
  const kept = new Set(
    older.filter((each) => onDay(each.value) || age(each.value) > 6.5 * day).slice(0, weekly),
  );
  for (const each of automatic)
    if (each.value !== value && !kept.has(each)) world.table("backup").remove(each.id);
}
