/** Configuration profiles. */

import { dateTime } from "../../clock.ts";
import type { Field } from "../../fields/field.ts";
import { objectOf, objectsOf, stringOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { childHome, publicHome } from "../../store/homes.ts";
import type { Call, Resource, RowCall, Store } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import { checkDevices, instanceOf } from "./instance-power.ts";
import type { Config, Disk, Instance, Interface } from "../row-types.ts";

// The default profile of an instance created from an image or a backup: its disks in order.

export const slots = ["sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh"];

export function addConfig(
  store: Store,
  instance: Instance,
  disks: readonly Disk[],
  at: number,
  interfaces: Interface[] = [],
): Row<Config> {
  const id = store.table("config").nextId();
  const time = dateTime(at);
  const device = (disk: Disk | undefined) => (disk ? { disk_id: disk.id, volume_id: null } : null);
  return store.table("config").add(childHome("instance", instance.id), id, {
    id,
    label: "Main profile",
    kernel: store.names.kernel,
    comments: null,
    memory_limit: 0,
    run_level: "default",
    virt_mode: "paravirt",
    root_device: "/dev/sda",
    root_device_ro: false,
    interfaces,
    helpers: {
      updatedb_disabled: true,
      distro: true,
      modules_dep: true,
      network: true,
      devtmpfs_automount: false,
    },
    devices: Object.fromEntries(slots.map((slot, index) => [slot, device(disks[index])])),
    initrd: null,
    created: time,
    updated: time,
  });
}

// Network interfaces of a profile: public or VLAN.

/** The interfaces of a profile. `ipam_address` may be empty or omitted, even for a VLAN (V-170). */
export const interfaces: Field = {
  type: "objects",
  max: 3,
  members: {
    purpose: { type: "string", values: ["public", "vlan"], required: true },
    label: { type: "string", nullable: true, max: 64, pattern: "[a-zA-Z0-9-]*" },
    ipam_address: { type: "string", nullable: true, pattern: "(?:[0-9a-fA-F.:]+/\\d{1,3})?" },
  },
};

/** A VLAN needs a label, a public interface must not have one, and only one interface may be public. */
export function checkInterfaces(value: unknown): FieldError[] {
  const given = objectsOf(value);
  const errors = given.flatMap(({ purpose, label }, index): FieldError[] => {
    const field = `interfaces[${index}].label`;
    if (purpose === "vlan" && !label) return [{ reason: "A VLAN needs a label", field }];
    return purpose === "public" && label ? [{ reason: "label is for VLANs", field }] : [];
  });
  const open = given.filter(({ purpose }) => purpose === "public");
  if (open.length > 1) errors.push({ reason: "One interface may be public", field: "interfaces" });
  return errors;
}

/** Returns the interfaces in their stored form, with all members. */
export function normalizeInterfaces(value: unknown): Interface[] {
  return objectsOf(value).map(({ purpose, label, ipam_address: address }) => ({
    purpose: stringOf(purpose),
    label: stringOf(label),
    ipam_address: stringOf(address),
  }));
}

const on = { type: "boolean", default: true } as const;
const device = {
  type: "object",
  nullable: true,
  members: {
    disk_id: { type: "integer", nullable: true },
    volume_id: { type: "integer", nullable: true },
  },
} as const;

function checkConfig(call: Call): FieldError[] {
  const { store, body } = call;
  const instance = instanceOf(call);
  const errors = checkInterfaces(body["interfaces"]);
  const kernel = body["kernel"];
  if (kernel !== undefined && store.table("kernel").get(kernel)?.home !== publicHome)
    errors.push({ reason: "kernel is not valid", field: "kernel" });
  const memory = body["memory_limit"];
  if (typeof memory === "number" && memory > instance.value.specs.memory)
    errors.push({
      reason: `memory_limit is above the ${instance.value.specs.memory} MB of the instance`,
      field: "memory_limit",
    });
  return [...errors, ...checkDevices(call, instance, body["devices"], "devices")];
}

/** Rejects an update that removes all devices (v4). */
function guardDevices({ body, row }: RowCall<Config>): void {
  const given = body["devices"];
  if (given === undefined || Object.keys(objectOf(given)).length > 0) return;
  if (Object.values(row.value.devices).some((each) => each !== null))
    throw invalid("devices must not be emptied", "devices");
}

/** Completes every slot with both members. An invalid root device becomes `/dev/sda`. */
function normalise({ row, body }: { row: Row<Config>; body: Call["body"] }): void {
  const { value } = row;
  const given = objectOf(body["devices"] ?? value.devices);
  const id = (device: unknown): number | null => (typeof device === "number" ? device : null);
  value.devices = Object.fromEntries(
    slots.map((slot) => {
      const { disk_id: disk, volume_id: volume } = objectOf(given[slot]);
      const device = { disk_id: id(disk), volume_id: id(volume) };
      return [slot, device.disk_id === null && device.volume_id === null ? null : device];
    }),
  );
  if (!/^\/dev\/\w+$/.test(value.root_device)) value.root_device = "/dev/sda";
  value.interfaces = normalizeInterfaces(value.interfaces);
}

export const config: Resource<Config> = {
  name: "config",
  path: "/configs",
  parent: "instance",
  id: "integer",
  owner: "account",
  access: "required",
  area: "vms",
  entity: { type: "vm", url: "/v4/vm/instances/{id}", ofParent: true },
  fields: {
    id: { type: "integer" },
    label: { type: "string", min: 1, max: 48, required: true, filter: true, write: true },
    kernel: { type: "string", write: true, default: "vm/latest-64bit" },
    comments: { type: "string", nullable: true, write: true },
    memory_limit: { type: "integer", min: 0, write: true },
    run_level: {
      type: "string",
      values: ["default", "single", "binbash"],
      write: true,
      default: "default",
    },
    virt_mode: { type: "string", values: ["paravirt", "fullvirt"], write: true, default: "paravirt" },
    root_device: { type: "string", write: true, default: "/dev/sda" },
    root_device_ro: { type: "boolean", write: true },
    interfaces: { ...interfaces, write: true },
    helpers: {
      type: "object",
      write: true,
      members: {
        updatedb_disabled: on,
        distro: on,
        modules_dep: on,
        network: on,
        devtmpfs_automount: { type: "boolean" },
      },
    },
    devices: {
      type: "object",
      required: true,
      write: true,
      members: Object.fromEntries(slots.map((slot) => [slot, device])),
    },
    initrd: { type: "integer", nullable: true },
    created: { type: "date-time" },
    updated: { type: "date-time" },
  },
  list: {},
  read: true,
  create: {
    event: "vm_config_create",
    validate: checkConfig,
    afterCreate(call, row) {
      const { store, caller, body } = call;
      const usual = store.table("settings").get(caller.account)?.value["network_helper"];
      if (objectOf(body["helpers"])["network"] === undefined) row.value.helpers["network"] = usual !== false;
      normalise({ row, body });
    },
  },
  update: {
    event: "vm_config_update",
    validate: checkConfig,
    checkPreconditions: guardDevices,
    afterUpdate: normalise,
  },
  remove: { event: "vm_config_delete" },
};
