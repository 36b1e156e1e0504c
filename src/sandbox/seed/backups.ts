/** Backups of several ages: made nightly, failed, snapshots done and under way, and switched on but not run yet. */

import { dateTime } from "../clock.ts";
import { startTransition } from "../resource/transitions.ts";
import { childHome } from "../resource/locate.ts";
import { planBackup } from "../resources/backup-schedule.ts";
import type { Backup, Disk, Instance } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";

const day = 86_400_000;
const minute = 60_000;

interface BackupSeed {
  readonly age: number;
  readonly status: string;
  readonly label?: string;
}

/** Oldest first; a `label` makes it a snapshot. */
const histories: readonly (readonly BackupSeed[])[] = [
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

const scheduleDays = ["Saturday", "Sunday", "Scheduling", "Wednesday", "Monday"];
const scheduleWindows = ["W10", "W2", "Scheduling", "W22", "W0"];

/** Every fourth instance has backups on. */
export function seedBackups(
  store: Store,
  row: Row<Instance>,
  index: number,
  disks: readonly Disk[],
  today: number,
): void {
  if (index % 4 !== 0) return;
  const which = (index / 4) % histories.length;
  const { backups } = row.value;
  backups.enabled = true;
  backups.schedule = { day: scheduleDays[which] ?? null, window: scheduleWindows[which] ?? null };
  for (const planned of histories[which] ?? []) {
    const backup = makeBackup(store, row.value, planned, disks, today);
    const added = store.table("backup").add(childHome("instance", row.id), backup.id, backup);
    if (backup.status === "running") finishSnapshot(store, added);
    if (backup.type === "auto" && backup.status === "successful") backups.last_successful = backup.finished;
  }
  planBackup(store, row, store.clock.now());
}

/** A snapshot that is under way at the start comes to its end. */
function finishSnapshot(store: Store, row: Row<Backup>): void {
  const now = store.clock.now();
  const finished = dateTime(now + 3 * minute);
  startTransition(store, "backup", row, now, [
    { status: "running", durationSeconds: 120 },
    { status: "needsPostProcessing", durationSeconds: 60 },
    { status: "successful", durationSeconds: 0, set: { finished } },
  ]);
}

function makeBackup(
  store: Store,
  { region }: Instance,
  { age, status, label }: BackupSeed,
  disks: readonly Disk[],
  today: number,
): Backup {
  const usual = today - age * day + 2 * 60 * minute;
  const began = Math.min(usual, store.clock.now() - 20 * minute);
  const done = status !== "running";
  return {
    id: store.table("backup").nextId(),
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
