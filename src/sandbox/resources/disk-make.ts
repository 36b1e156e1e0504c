/** Makes the rows of disks, which are `not ready` for a while. */

import { dateTime } from "../clock.ts";
import { homeBelow } from "../resource/locate.ts";
import type { TransitionEnd } from "../resource/transitions.ts";
import { startTransition } from "../resource/transitions.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import type { Disk, Image } from "./shapes.ts";

/** Seconds that making or changing a disk takes. */
export const diskJob = 3;

/** The stages of a job on a disk. */
export const diskStages = [
  { status: "not ready", takes: diskJob },
  { status: "ready", takes: 0 },
];

export type DiskPlan = Pick<Disk, "label" | "size" | "filesystem" | "read_only">;

export function addDisk(
  world: World,
  instance: number,
  disk: DiskPlan,
  at: number,
  ending?: TransitionEnd,
): Row<Disk> {
  const id = world.table("disk").nextId();
  const time = dateTime(at);
  const { label, size, filesystem, read_only: readOnly } = disk;
  const value: Disk = { id, label, size, filesystem, status: "not ready", created: time, updated: time };
  if (readOnly !== undefined) value.read_only = readOnly;
  const row = world.table("disk").add(homeBelow("instance", instance), id, value);
  startTransition(world, "disk", row, at, diskStages, ending);
  return row;
}

/** The system disk takes all the space but the swap. */
export function imageDisks(image: Image, space: number, swap: number): DiskPlan[] {
  const system = { label: `${image.label} disk`, size: space - swap, filesystem: "ext4" };
  return swap > 0 ? [system, { label: "swap", size: swap, filesystem: "swap" }] : [system];
}

/** A disk gets its new size when the job is done; until then the space that either size takes is not free. */
export function growDisk(
  world: World,
  row: Row<Disk>,
  { size, takes = diskJob }: { readonly size: number; readonly takes?: number },
  at: number,
  ending?: TransitionEnd,
): void {
  row.hidden = { ...row.hidden, reserved: size };
  const stages = [
    { status: "not ready", takes },
    { status: "ready", takes: 0, set: { size } },
  ];
  startTransition(world, "disk", row, at, stages, ending);
}

/** MB that the disks of an instance take. */
export function usedSpace(world: World, instance: number): number {
  let used = 0;
  for (const { value, hidden } of world.table("disk").of(homeBelow("instance", instance)))
    used += Math.max(value.size, hidden?.reserved ?? 0);
  return used;
}
