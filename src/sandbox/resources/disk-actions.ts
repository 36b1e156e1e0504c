/** Making and resizing disks within the space that the plan of the instance gives. */

import type { FieldError } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import type { ActionCall, Call } from "../resource/declaration.ts";
import { recordEvent } from "../resource/events.ts";
import { childHome } from "../resource/locate.ts";
import type { Row } from "../store/table.ts";
import type { DiskPlan } from "./disk-make.ts";
import { addDisk, diskJob, growDisk, usedSpace } from "./disk-make.ts";
import { checkImage, checkStrength, imageOf } from "./image-deploy.ts";
import { isOff } from "./instance-power.ts";
import type { Disk, Instance } from "./shapes.ts";

type DiskCall = ActionCall<Disk>;

export function checkDisk(call: Call): FieldError[] {
  const { body } = call;
  const errors = checkImage(call);
  const image = imageOf(call);
  const size = body["size"];
  if (typeof size === "number" && size > freeSpace(call)) {
    errors.push({ reason: `size is above the free space of ${freeSpace(call)} MB`, field: "size" });
  }
  if (typeof size === "number" && image && size < image.size) {
    errors.push({ reason: `size must be at least ${image.size} MB for this image`, field: "size" });
  }
  if (body["label"] === undefined && typeof body["image"] !== "string") {
    errors.push({ reason: "label is required without image", field: "label" });
  }
  return errors;
}

export function createDisk(call: Call): Row<Disk> {
  const { body, resource } = call;
  const given = body as { size: number; label?: string; filesystem?: string; read_only?: boolean };
  return newDisk(call, resource.create?.event ?? "", {
    label: given.label ?? `${imageOf(call)?.label} disk`,
    size: given.size,
    filesystem: given.filesystem ?? "ext4",
    ...(given.read_only !== undefined && { read_only: given.read_only }),
  });
}

/** On the same instance, which must have as much space again. */
export function cloneDisk(call: DiskCall): Row<Disk> {
  const { label, size, filesystem } = call.row.value;
  if (size > freeSpace(call)) throw invalid(`${size} MB are needed and ${freeSpace(call)} are free`);
  return newDisk(call, call.action.event ?? "", { label, size, filesystem });
}

/** The event of a disk names its instance, so it can be left before the disk is made. */
function newDisk(call: Call, event: string, plan: DiskPlan): Row<Disk> {
  const instance = instanceOf(call);
  const { id } = recordEvent(call, event, { value: instance }, diskJob);
  return addDisk(call.store, instance.id, plan, call.at, { event: { id, status: "finished" } });
}

export function setDiskPassword(call: DiskCall): void {
  const [fieldError] = checkStrength(call.body["password"], "password");
  if (fieldError) throw invalid(fieldError.reason, fieldError.field);
  if (!isOff({ value: instanceOf(call) })) throw invalid("The instance must be off");
  recordEvent(call, call.action.event ?? "", call.row);
}

/** Answered 200 even where the job then fails: the instance runs on this disk. */
export function resizeDisk({ action, ...call }: DiskCall): void {
  const { store, row, body, at } = call;
  const size = body["size"] as number;
  const free = freeSpace(call) + row.value.size;
  if (size > free) throw invalid(`size is above the free space of ${free} MB`, "size");
  const { id } = recordEvent(call, action.event ?? "", row, diskJob);
  if (instanceOf(call).status === "running" && isAttached(call)) {
    const event = { id, status: "failed", message: "The disk is in use" } as const;
    return store.timeline.schedule({
      at: at + diskJob * 1000,
      table: "disk",
      id: row.id,
      job: row.job,
      event,
    });
  }
  growDisk(store, row, { size }, at, { event: { id, status: "finished" } });
}

/** MB that the disks of the instance leave of its plan. */
function freeSpace(call: Call): number {
  const instance = instanceOf(call);
  return instance.specs.disk - usedSpace(call.store, instance.id);
}

function isAttached({ store, row, parents }: Omit<DiskCall, "action">): boolean {
  const configs = store.table("config").inHome(childHome("instance", instanceOf({ parents }).id));
  return [...configs].some(({ value }) =>
    Object.values(value.devices).some((device) => device?.disk_id === row.id),
  );
}

function instanceOf({ parents }: Pick<Call, "parents">): Instance {
  return parents[0]?.value as unknown as Instance;
}
