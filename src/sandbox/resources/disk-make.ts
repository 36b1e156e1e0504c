/** Makes the rows of disks, which are `not ready` for a while. */

import { dateTime } from "../clock.ts";
import { childHome } from "../resource/locate.ts";
import type { TransitionEnd } from "../resource/transitions.ts";
import { startTransition } from "../resource/transitions.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import type { Disk, Image } from "./shapes.ts";

/** Seconds that making or changing a disk takes. */
export const diskJob = 3;

/** The stages of a job on a disk. */
export const diskStages = [
  { status: "not ready", durationSeconds: diskJob },
  { status: "ready", durationSeconds: 0 },
];

export type DiskPlan = Pick<Disk, "label" | "size" | "filesystem" | "read_only">;

export function addDisk(
  store: Store,
  instance: number,
  disk: DiskPlan,
  at: number,
  ending?: TransitionEnd,
): Row<Disk> {
  const id = store.table("disk").nextId();
  const time = dateTime(at);
  const { label, size, filesystem, read_only: readOnly } = disk;
  const value: Disk = { id, label, size, filesystem, status: "not ready", created: time, updated: time };
  if (readOnly !== undefined) value.read_only = readOnly;
  const row = store.table("disk").add(childHome("instance", instance), id, value);
  startTransition(store, "disk", row, at, diskStages, ending);
  return row;
}

/** The system disk takes all the space but the swap. */
export function imageDisks(image: Image, space: number, swap: number): DiskPlan[] {
  const system = { label: `${image.label} disk`, size: space - swap, filesystem: "ext4" };
  return swap > 0 ? [system, { label: "swap", size: swap, filesystem: "swap" }] : [system];
}

/** A disk gets its new size when the job is done; until then the space that either size takes is not free. */
export function growDisk(
  store: Store,
  row: Row<Disk>,
  { size, durationSeconds = diskJob }: { readonly size: number; readonly durationSeconds?: number },
  at: number,
  ending?: TransitionEnd,
): void {
  row.hidden = { ...row.hidden, reserved: size };
  const stages = [
    { status: "not ready", durationSeconds },
    { status: "ready", durationSeconds: 0, set: { size } },
  ];
  startTransition(store, "disk", row, at, stages, ending);
}

/** MB that the disks of an instance take. */
export function usedSpace(store: Store, instance: number): number {
  let used = 0;
  for (const { value, hidden } of store.table("disk").inHome(childHome("instance", instance)))
    used += Math.max(value.size, hidden?.reserved ?? 0);
  return used;
}
