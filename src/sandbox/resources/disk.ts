/** Disks of an instance (v4, Disks). */

import type { Resource } from "../resource/declaration.ts";
import type { Field, Fields } from "../rules/field.ts";
import { deployBody } from "./deploy-body.ts";
import { checkDisk, cloneDisk, createDisk, resizeDisk, setDiskPassword } from "./disk-actions.ts";
import { rootPass } from "./image-deploy.ts";
import type { Disk } from "./shapes.ts";

/** 50 characters, as in alpha, although the specification says 48 (ruling). */
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
    // PUT listing size and filesystem as writable is a leftover: only the label counts (ruling).
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
