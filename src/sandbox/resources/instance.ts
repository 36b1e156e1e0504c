/** Instances (v4, Instances). */

import type { Resource } from "../resource/declaration.ts";
import type { Field, Fields } from "../rules/field.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import { dropAddresses, renumber } from "./addresses.ts";
import { planBackup, takeBackup } from "./backup-schedule.ts";
import { deployBody } from "./deploy-body.ts";
import { firstSchedule } from "./instance-make.ts";
import { instanceActions } from "./instance-actions.ts";
import { checkInstance } from "./instance-check.ts";
import { createInstance } from "./instance-create.ts";
import { interfaces } from "./interfaces.ts";
import type { Instance } from "./shapes.ts";
import { instanceLabel, tags } from "./labels.ts";
import { detachAll } from "./volume-attach.ts";

const group: Field = { type: "string", max: 255 };
const count: Field = { type: "integer" };
const threshold: Field = { type: "integer", min: 0, write: true };

const days = ["Scheduling", "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const windows = ["Scheduling", ...Array.from({ length: 12 }, (_, index) => `W${index * 2}`)];

const createBody: Fields = {
  type: { type: "string", required: true },
  region: { type: "string", required: true },
  ...deployBody,
  booted: { type: "boolean" },
  backup_id: { type: "integer" },
  backups_enabled: { type: "boolean" },
  swap_size: { type: "integer", min: 0 },
  label: instanceLabel,
  tags,
  group,
  private_ip: { type: "boolean" },
  interfaces,
};

/** What belongs to a region stays there: addresses, ranges, what was shared, and volumes. */
function arrive(store: Store, row: Row<Instance>): void {
  const { id } = row.value;
  const left = new Set(row.value.ipv4);
  renumber(store, row);
  detachAll(store, id);
  delete row.hidden?.shared;
  for (const { hidden } of store.table("instance").inHome(row.home))
    if (hidden?.shared) hidden.shared = hidden.shared.filter((address) => !left.has(address));
  for (const range of store.table("range").inHome(row.home))
    if (range.value.instances.includes(id)) store.table("range").remove(range.id);
}

export const instance: Resource<Instance> = {
  name: "instance",
  path: "/vm/instances",
  id: "integer",
  owner: "account",
  access: "required",
  area: "vms",
  grant: { entity: "vm", add: "add_vms" },
  entity: { type: "vm", url: "/v4/vm/instances/{id}" },
  fields: {
    id: { type: "integer", filter: true },
    label: { ...instanceLabel, filter: true, write: true },
    group: { ...group, filter: true, write: true },
    tags: { ...tags, filter: true, write: true },
    region: { type: "string", filter: true },
    image: { type: "string", nullable: true, filter: true },
    type: { type: "string", nullable: true },
    status: { type: "string" },
    hypervisor: { type: "string" },
    created: { type: "date-time" },
    updated: { type: "date-time" },
    ipv4: { type: "strings", filter: true },
    ipv6: { type: "string", nullable: true },
    specs: {
      type: "object",
      members: { disk: count, memory: count, vcpus: count, transfer: count, gpus: count },
    },
    alerts: {
      type: "object",
      members: {
        cpu: threshold,
        network_in: threshold,
        network_out: threshold,
        transfer_quota: threshold,
        io: threshold,
      },
    },
    backups: {
      type: "object",
      members: {
        enabled: { type: "boolean" },
        schedule: {
          type: "object",
          members: {
            day: { type: "string", nullable: true, values: days, write: true },
            window: { type: "string", nullable: true, values: windows, write: true },
          },
        },
        last_successful: { type: "date-time", nullable: true },
      },
    },
    watchdog_enabled: { type: "boolean", write: true },
  },
  list: {},
  read: true,
  create: {
    body: createBody,
    event: "vm_create",
    validate: checkInstance,
    createRow: createInstance,
    rate: { limit: 10, seconds: 30 },
  },
  update: {
    event: "vm_update",
    // While backups are off there is neither day nor window.
    afterUpdate({ store, row, at }, before) {
      const { backups } = row.value;
      if (!backups.enabled) backups.schedule = firstSchedule(false);
      if (backups.schedule.window !== before.backups.schedule.window) planBackup(store, row, at);
    },
  },
  remove: { event: "vm_delete", durationSeconds: 2 },
  actions: instanceActions,
  afterTransition(row, store, before) {
    if (row.value.region !== before.region) arrive(store, row);
  },
  onDue: (row, store, at) => takeBackup(store, row, at),
  afterDelete(row, store) {
    dropAddresses(store, row as Row<Instance>);
    detachAll(store, Number(row.id));
  },
};
