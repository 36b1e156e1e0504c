/** Instances (V-088, V-149 to V-151). */

import type { Field, Fields } from "../../fields/field.ts";
import type { Action, Resource, Store } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { deleteAddresses, replaceAddresses } from "../network/address-allocation.ts";
import { scheduleBackup, takeBackup } from "./backup-schedule.ts";
import { disableBackups, enableBackups, listBackups } from "./backup.ts";
import { interfaces } from "./config-profile.ts";
import { deployBody, rootPass } from "../services/image.ts";
import { cloneBody, cloneInstance } from "./instance-clone.ts";
import { checkInstance, createInstance, firstSchedule } from "./instance-create.ts";
import { checkRebuild, migrate, mutate, rebuild, resize } from "./instance-maintenance.ts";
import { addIp, instanceIp, linkedVolumes, listIps, removeIp, setRdns } from "./instance-network.ts";
import { boot, checkRescue, reboot, rescue, shutdown } from "./instance-power.ts";
import { monthStats, stats, transfer } from "./instance-stats.ts";
import type { Instance } from "../row-types.ts";
import { instanceLabel, tags } from "../label-fields.ts";
import { detachAll } from "./volume.ts";

// Actions of an instance.

const bootBody: Fields = { config_id: { type: "integer", nullable: true } };
const resizes: Field = { type: "boolean" };
const rdnsBody: Fields = { rdns: { type: "string", nullable: true, max: 255 } };
const slot: Field = {
  type: "object",
  nullable: true,
  members: {
    disk_id: { type: "integer", nullable: true },
    volume_id: { type: "integer", nullable: true },
  },
};
/** The device slots of a rescue boot. The eighth slot is reserved for the rescue system. */
const rescueSlots = Object.fromEntries(
  ["sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg"].map((name) => [name, slot]),
);
const rate = { limit: 100, seconds: 60 };

const instanceActions: readonly Action<Instance>[] = [
  { method: "POST", path: "/boot", body: bootBody, event: "vm_boot", run: boot },
  { method: "POST", path: "/reboot", body: bootBody, event: "vm_reboot", run: reboot },
  { method: "POST", path: "/shutdown", event: "vm_shutdown", run: shutdown },
  {
    method: "POST",
    path: "/rescue",
    body: { devices: { type: "object", members: rescueSlots } },
    event: "vm_reboot",
    validate: checkRescue,
    run: rescue,
  },
  {
    method: "POST",
    path: "/rebuild",
    body: {
      ...deployBody,
      image: { type: "string", required: true },
      root_pass: { ...rootPass, required: true },
      booted: { type: "boolean" },
    },
    event: "vm_rebuild",
    validate: checkRebuild,
    returnsRow: "instance",
    run: rebuild,
  },
  {
    method: "POST",
    path: "/resize",
    body: { type: { type: "string", required: true }, allow_auto_disk_resize: resizes },
    event: "vm_resize_create",
    run: resize,
  },
  {
    method: "POST",
    path: "/mutate",
    body: { allow_auto_disk_resize: resizes },
    event: "vm_mutate_create",
    run: mutate,
  },
  {
    method: "POST",
    path: "/clone",
    body: cloneBody,
    event: "vm_clone",
    grant: "add",
    returnsRow: "instance",
    run: cloneInstance,
  },
  {
    method: "POST",
    path: "/migrate",
    body: { region: { type: "string" }, upgrade: { type: "boolean" } },
    event: "vm_migrate_datacenter_create",
    run: migrate,
  },
  { method: "GET", path: "/transfer", run: transfer },
  { method: "GET", path: "/stats", rate, run: stats },
  { method: "GET", path: "/stats/:year/:month", rate, run: monthStats },
  { method: "GET", path: "/volumes", returnsRows: "volume", run: linkedVolumes },
  { method: "GET", path: "/ips", run: listIps },
  {
    method: "POST",
    path: "/ips",
    body: {
      type: { type: "string", required: true, values: ["ipv4"] },
      public: { type: "boolean", required: true },
    },
    event: "vm_addip",
    returnsRow: "address",
    run: addIp,
  },
  { method: "GET", path: "/ips/:address", returnsRow: "address", run: instanceIp },
  {
    method: "PUT",
    path: "/ips/:address",
    body: rdnsBody,
    event: "ipaddress_update",
    returnsRow: "address",
    run: setRdns,
  },
  { method: "DELETE", path: "/ips/:address", event: "vm_deleteip", run: removeIp },
  { method: "GET", path: "/backups", run: listBackups },
  { method: "POST", path: "/backups/enable", event: "backups_enable", run: enableBackups },
  { method: "POST", path: "/backups/cancel", event: "backups_cancel", run: disableBackups },
];

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

/** Finishes a migration to a different region. Addresses, ranges, shared addresses and volumes stay in the old region. */
function finishMigration(store: Store, row: Row<Instance>): void {
  const { id } = row.value;
  const left = new Set(row.value.ipv4);
  replaceAddresses(store, row);
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
    // Day and window are null while backups are disabled.
    afterUpdate({ store, row, at }, before) {
      const { backups } = row.value;
      if (!backups.enabled) backups.schedule = firstSchedule(false);
      if (backups.schedule.window !== before.backups.schedule.window) scheduleBackup(store, row, at);
    },
  },
  remove: { event: "vm_delete", durationSeconds: 2 },
  actions: instanceActions,
  afterTransition(row, store, before) {
    if (row.value.region !== before.region) finishMigration(store, row);
  },
  onDue: (row, store, at) => takeBackup(store, row, at),
  afterDelete(row, store) {
    deleteAddresses(store, row);
    detachAll(store, Number(row.id));
  },
};
