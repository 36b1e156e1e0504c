/** What can be done with an instance beyond reading and writing it (v4, Instances, Actions). */

import type { Action } from "../resource/declaration.ts";
import type { Field, Fields } from "../rules/field.ts";
import { disableBackups, enableBackups, listBackups } from "./backup-actions.ts";
import { addIp, instanceIp, listIps, removeIp, setRdns } from "./instance-addresses.ts";
import { cloneBody, cloneInstance } from "./instance-clone.ts";
import { migrate } from "./instance-migrate.ts";
import { boot, checkRescue, reboot, rescue, setPassword, shutdown } from "./instance-power.ts";
import { checkRebuild, rebuild } from "./instance-rebuild.ts";
import { mutate, resize } from "./instance-resize.ts";
import { monthStats, monthTransfer, stats, transfer } from "./instance-stats.ts";
import { linkedFirewalls, linkedNodebalancers, linkedVolumes } from "./instance-links.ts";
import { deployBody } from "./deploy-body.ts";
import { rootPass } from "./image-deploy.ts";
import type { Instance } from "./shapes.ts";

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
/** The eighth is the rescue system's own. */
const rescueSlots = Object.fromEntries(
  ["sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg"].map((name) => [name, slot]),
);
const rate = { limit: 100, seconds: 60 };

export const instanceActions: readonly Action<Instance>[] = [
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
    path: "/password",
    body: { root_pass: { ...rootPass, required: true } },
    event: "password_reset",
    run: setPassword,
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
  { method: "GET", path: "/transfer/:year/:month", run: monthTransfer },
  { method: "GET", path: "/stats", rate, run: stats },
  { method: "GET", path: "/stats/:year/:month", rate, run: monthStats },
  { method: "GET", path: "/volumes", returnsRows: "volume", run: linkedVolumes },
  { method: "GET", path: "/nodebalancers", returnsRows: "nodebalancer", run: linkedNodebalancers },
  { method: "GET", path: "/firewalls", returnsRows: "firewall", run: linkedFirewalls },
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
