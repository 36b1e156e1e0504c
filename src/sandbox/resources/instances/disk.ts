/** Disks of an instance. */

import { dateTime } from "../../clock.ts";
import type { Field, Fields } from "../../fields/field.ts";
import { stringOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { childHome } from "../../store/homes.ts";
import type { ActionCall, Call, Resource, Store } from "../../resource/resource-declaration.ts";
import type { TransitionEnd } from "../../resource/transitions.ts";
import { finishing, jobStages, startTransition } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import { checkImage, checkStrength, deployBody, imageOf, rootPass } from "../services/image.ts";
import { instanceOf, isOff } from "./instance-power.ts";
import type { Disk, Image } from "../row-types.ts";

/** // The maximum is 50 characters as in alpha, although v4's OpenAPI description contains 48. */
const label: Field = { type: "string", min: 1, max: 50 };
const filesystem: Field = { type: "string", values: ["raw", "swap", "ext3", "ext4", "initrd"] };
const size: Field = { type: "integer", min: 0, required: true };

const createBody: Fields = {
  size,
  label,
  filesystem,
  ...deployBody,
  read_only: { type: "boolean" },
};

export const disk: Resource<Disk> = {
  name: "disk",
  path: "/disks",
  parent: "instance",
  id: "integer",
  owner: "account",
  access: "required",
  area: "vms",
  entity: { type: "disks", url: "/v4/vm/instances/{id}", ofParent: true },
  fields: {
    id: { type: "integer" },
    label: { ...label, filter: true, write: true },
    status: { type: "string", values: ["ready", "not ready", "deleting"] },
    // According to v4's OpenAPI description, PUT changes size and filesystem. In fact it only changes the label.
    size: { type: "integer", filter: true },
    filesystem,
    created: { type: "date-time" },
    updated: { type: "date-time" },
  },
  list: {},
  read: true,
  create: { body: createBody, event: "disk_create", validate: checkDisk, createRow: createDisk },
  update: { event: "disk_update" },
  afterTransition(row, _world, before) {
    if (row.value.size !== before.size) delete row.hidden?.reserved;
  },
  remove: { event: "disk_delete", durationSeconds: 2 },
  actions: [
    {
      method: "POST",
      path: "/resize",
      body: { size: { ...size, min: 1 } },
      event: "disk_resize",
      run: resizeDisk,
    },
    { method: "POST", path: "/clone", event: "disk_duplicate", returnsRow: "disk", run: cloneDisk },
    {
      method: "POST",
      path: "/password",
      body: { password: { ...rootPass, required: true } },
      event: "password_reset",
      run: setDiskPassword,
    },
  ],
};

// Creates and resizes disks within the space of the instance's plan.

type DiskCall = ActionCall<Disk>;

function checkDisk(call: Call): FieldError[] {
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

function createDisk(call: Call): Row<Disk> {
  const { body, resource } = call;
  const readOnly = body["read_only"];
  return newDisk(call, resource.create?.event ?? "", {
    label: stringOf(body["label"], `${imageOf(call)?.label} disk`),
    size: Number(body["size"]),
    filesystem: stringOf(body["filesystem"], "ext4"),
    ...(typeof readOnly === "boolean" && { read_only: readOnly }),
  });
}

/** Copies a disk within its instance, if the free space suffices. */
function cloneDisk(call: DiskCall): Row<Disk> {
  const { label, size, filesystem } = call.row.value;
  if (size > freeSpace(call)) throw invalid(`${size} MB are needed and ${freeSpace(call)} are free`);
  return newDisk(call, call.action.event ?? "", { label, size, filesystem });
}

/** The event of a disk names its instance, so it can be recorded before the disk exists. */
function newDisk(call: Call, event: string, plan: DiskPlan): Row<Disk> {
  const instance = instanceOf(call).value;
  const { id } = recordEvent(call, event, { value: instance }, diskJob);
  return addDisk(call.store, instance.id, plan, call.at, finishing(id));
}

function setDiskPassword(call: DiskCall): void {
  const [fieldError] = checkStrength(call.body["password"], "password");
  if (fieldError) throw invalid(fieldError.reason, fieldError.field);
  if (!isOff(instanceOf(call))) throw invalid("The instance must be off");
  recordEvent(call, call.action.event ?? "", call.row);
}

/** Resizes a disk. Responds 200 even if the job fails later because a running instance uses the disk. */
function resizeDisk({ action, ...call }: DiskCall): void {
  const { store, row, body, at } = call;
  const size = Number(body["size"]);
  const free = freeSpace(call) + row.value.size;
  if (size > free) throw invalid(`size is above the free space of ${free} MB`, "size");
  const { id } = recordEvent(call, action.event ?? "", row, diskJob);
  if (instanceOf(call).value.status === "running" && isAttached(call)) {
    const event = { id, status: "failed", message: "The disk is in use" } as const;
    return store.timeline.schedule({
      at: at + diskJob * 1000,
      table: "disk",
      id: row.id,
      job: row.job,
      event,
    });
  }
  growDisk(store, row, { size }, at, finishing(id));
}

/** Returns the space of the plan that is not used by disks, in MB. */
function freeSpace(call: Call): number {
  const instance = instanceOf(call).value;
  return instance.specs.disk - usedSpace(call.store, instance.id);
}

function isAttached(call: Omit<DiskCall, "action">): boolean {
  const configs = call.store.table("config").inHome(childHome("instance", instanceOf(call).id));
  return [...configs].some(({ value }) =>
    Object.values(value.devices).some((device) => device?.disk_id === call.row.id),
  );
}

// Creates disk rows, which are `not ready` while the job runs.

/** Duration of a disk job, in seconds. */
export const diskJob = 3;

/** Status transitions of a disk job. */
const diskStages = jobStages("not ready", diskJob, "ready");

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

/** Returns the disks of an image: a system disk that uses all space except the swap disk. */
export function imageDisks(image: Image, space: number, swap: number): DiskPlan[] {
  const system = { label: `${image.label} disk`, size: space - swap, filesystem: "ext4" };
  return swap > 0 ? [system, { label: "swap", size: swap, filesystem: "swap" }] : [system];
}

/** Starts a resize. Until it ends, the larger of the two sizes counts as used. */
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

/** Returns the space used by the disks of an instance, in MB. */
export function usedSpace(store: Store, instance: number): number {
  let used = 0;
  for (const { value, hidden } of store.table("disk").inHome(childHome("instance", instance)))
    used += Math.max(value.size, hidden?.reserved ?? 0);
  return used;
}
