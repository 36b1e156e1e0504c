/** Backups of several ages: made nightly, failed, snapshots done and under way, and switched on but not run yet. */

import { dateTime } from "../clock.ts";
import { startTransition } from "../resource/transitions.ts";
import { homeBelow } from "../resource/locate.ts";
import { planBackup } from "../resources/backup-schedule.ts";
import type { Backup, Disk, Instance } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";

const day = 86_400_000;
const minute = 60_000;

interface Planned {
  readonly age: number;
  readonly status: string;
  readonly label?: string;
}

/** Oldest first; a `label` makes it a snapshot. */
const histories: readonly (readonly Planned[])[] = [
  [
    { age: 15, status: "successful" },
    { age: 8, status: "successful" },
    { age: 3, status: "successful", label: "before-upgrade" },
    { age: 1, status: "successful" },
  ],
  [
    { age: 9, status: "successful" },
    { age: 2, status: "failed" },
    { age: 0, status: "running", label: "under-way" },
  ],
  [],
  [
    { age: 16, status: "successful" },
    { age: 9, status: "successful" },
    { age: 2, status: "successful" },
    { age: 1, status: "failed" },
    { age: 20, status: "failed", label: "too-big" },
  ],
  [{ age: 1, status: "successful" }],
];

const days = ["Saturday", "Sunday", "Scheduling", "Wednesday", "Monday"];
const windows = ["W10", "W2", "Scheduling", "W22", "W0"];

/** Every fourth instance has backups on. */
export function seedBackups(
  world: World,
  row: Row<Instance>,
  index: number,
  disks: readonly Disk[],
  today: number,
): void {
  if (index % 4 !== 0) return;
  const which = (index / 4) % histories.length;
  const { backups } = row.value;
  backups.enabled = true;
  backups.schedule = { day: days[which] ?? null, window: windows[which] ?? null };
  for (const planned of histories[which] ?? []) {
    const backup = makeBackup(world, row.value, planned, disks, today);
    const added = world.table("backup").add(homeBelow("instance", row.id), backup.id, backup);
    if (backup.status === "running") finish(world, added);
    if (backup.type === "auto" && backup.status === "successful") backups.last_successful = backup.finished;
  }
  planBackup(world, row, world.clock.now());
}

/** A snapshot that is under way at the start comes to its end. */
function finish(world: World, row: Row<Backup>): void {
  const now = world.clock.now();
  const finished = dateTime(now + 3 * minute);
  startTransition(world, "backup", row, now, [
    { status: "running", takes: 120 },
    { status: "needsPostProcessing", takes: 60 },
    { status: "successful", takes: 0, set: { finished } },
  ]);
}

function makeBackup(
  world: World,
  { region }: Instance,
  { age, status, label }: Planned,
  disks: readonly Disk[],
  today: number,
): Backup {
  const usual = today - age * day + 2 * 60 * minute;
  const began = Math.min(usual, world.clock.now() - 20 * minute);
  const done = status !== "running";
  return {
    id: world.table("backup").nextId(),
    type: label === undefined ? "auto" : "snapshot",
    status,
    label: label ?? null,
    region,
    created: dateTime(began),
    updated: dateTime(began + 14 * minute),
    finished: done ? dateTime(began + 13 * minute) : null,
    configs: ["Main profile"],
    disks: disks.map(({ size, filesystem, label }) => ({ size, filesystem, label })),
  };
}
