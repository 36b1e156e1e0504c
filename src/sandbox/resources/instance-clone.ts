/** Copies an instance into a new one or over an existing one (v4, POST /vm/instances/{vmId}/clone). */

import type { Fault } from "../http/problem.ts";
import { Problem } from "../http/problem.ts";
import type { Fields } from "../rules/field.ts";
import { record } from "../resource/events.ts";
import { forbidden, grantMaker, mayReach } from "../resource/grants.ts";
import { homeBelow } from "../resource/locate.ts";
import { startTransition } from "../resource/transitions.ts";
import type { Row } from "../store/table.ts";
import { instanceLabel } from "./labels.ts";
import { addConfig, slots } from "./config-make.ts";
import { addDisk, usedSpace } from "./disk-make.ts";
import { addInstance } from "./instance-make.ts";
import { currentPlan } from "./instance-check.ts";
import type { InstanceCall } from "./instance-power.ts";
import { isOff } from "./instance-power.ts";
import type { Config, Disk, Instance } from "./shapes.ts";

export const cloneBody: Fields = {
  region: { type: "string" },
  type: { type: "string" },
  vm_id: { type: "integer" },
  label: instanceLabel,
  group: { type: "string", max: 255 },
  backups_enabled: { type: "boolean" },
  disks: { type: "integers" },
  configs: { type: "integers" },
};

const copying = 6;
/** So many clones of one source may run at once (v4, Stated 400 cases). */
const mostAtOnce = 5;

/** What is copied. */
interface Parts {
  readonly disks: readonly Disk[];
  readonly configs: readonly Config[];
}

export function cloneInstance(call: InstanceCall): Row<Instance> {
  const { world, row, at, action } = call;
  const parts = partsOf(call);
  const faults = checkClone(call, parts);
  if (faults.length > 0) throw new Problem(400, faults);
  const running = (row.hidden?.clones ?? []).filter((ends) => ends > at);
  if (running.length >= mostAtOnce)
    throw new Problem(400, [{ reason: `${mostAtOnce} clones of this instance are already being made` }]);
  row.hidden = { ...row.hidden, clones: [...running, at + copying * 1000] };
  const target = targetOf(call) ?? newTarget(call);
  copy(call, target, parts);
  const { id } = record(call, action.event ?? "", row, copying);
  const back = target.value.status === "provisioning" ? "offline" : target.value.status;
  const stages = [
    { status: target.value.status === "provisioning" ? "provisioning" : "cloning", takes: copying },
    { status: back, takes: 0 },
  ];
  startTransition(world, "instance", target, at, stages, { event: { id, status: "finished" } });
  return target;
}

function checkClone(call: InstanceCall, { disks }: Parts): Fault[] {
  const { world, body } = call;
  const { vmId } = world.names;
  const needed = disks.reduce((sum, { size }) => sum + size, 0);
  if (body[vmId] !== undefined) return checkTarget(call, needed, vmId);
  const faults: Fault[] = [];
  const plan = currentPlan(world, body["type"]);
  if (!world.table("region").get(body["region"]))
    faults.push({ reason: "region must be given for a new instance, and valid", field: "region" });
  if (!plan) faults.push({ reason: "type must be given for a new instance, and valid", field: "type" });
  else if (plan.disk < needed) faults.push({ reason: `The disks need ${needed} MB`, field: "type" });
  return faults;
}

/** The target is there, idle, another one, and has room. */
function checkTarget(call: InstanceCall, needed: number, field: string): Fault[] {
  const { world, row, body } = call;
  const target = targetOf(call);
  if (!target || target === row) return [{ reason: `${field} is not valid`, field }];
  if (!mayReach(call.resource, target, "read_write", call)) throw forbidden();
  const alone = ["region", "type", "label", "group", "backups_enabled"].filter(
    (name) => body[name] !== undefined,
  );
  if (alone.length > 0)
    return alone.map((name) => ({ reason: `${name} is for a new instance, not with ${field}`, field: name }));
  if (!isOff(target) && target.value.status !== "running") return [{ reason: "The target is busy", field }];
  const free = target.value.specs.disk - usedSpace(world, target.value.id);
  return free < needed ? [{ reason: `The target has ${free} MB free and ${needed} are needed`, field }] : [];
}

function targetOf({ world, caller, body }: InstanceCall): Row<Instance> | undefined {
  const row = world.table("instance").get(body[world.names.vmId]);
  return row?.home === caller.account ? row : undefined;
}

function newTarget(call: InstanceCall): Row<Instance> {
  const { world, caller, row, body, resource } = call;
  const plan = currentPlan(world, body["type"]);
  if (!plan) throw new Error("The type of a clone was checked before");
  const target = addInstance(call, {
    plan,
    region: body["region"] as string,
    label: body["label"] as string | undefined,
    group: (body["group"] as string | undefined) ?? row.value.group,
    tags: [...row.value.tags],
    image: row.value.image,
    backups: body["backups_enabled"] === true,
    privateIp: false,
  });
  grantMaker(resource, caller, target.id);
  return target;
}

/** Without `configs` all are taken, with their disks; `disks` are taken besides. */
function partsOf({ world, row, body }: InstanceCall): Parts {
  const home = homeBelow("instance", row.id);
  const disks = [...world.table("disk").of(home)].map(({ value }) => value);
  const configs = [...world.table("config").of(home)].map(({ value }) => value);
  const named = body["configs"] as number[] | undefined;
  const extra = (body["disks"] as number[] | undefined) ?? [];
  const faults: Fault[] = [];
  if (named?.some((id) => !configs.some((config) => config.id === id)))
    faults.push({ reason: "configs is not valid", field: "configs" });
  if (extra.some((id) => !disks.some((disk) => disk.id === id)))
    faults.push({ reason: "disks is not valid", field: "disks" });
  if (faults.length > 0) throw new Problem(400, faults);
  const taken = configs.filter(({ id }) => named?.includes(id) ?? true);
  const used = new Set(taken.flatMap(({ devices }) => Object.values(devices).map((each) => each?.disk_id)));
  return { configs: taken, disks: disks.filter(({ id }) => used.has(id) || extra.includes(id)) };
}

function copy({ world, at }: InstanceCall, target: Row<Instance>, { disks, configs }: Parts): void {
  const made = new Map(
    disks.map((disk) => [disk.id, addDisk(world, target.value.id, disk, at).value] as const),
  );
  for (const config of configs) {
    const { id: _id, created: _created, updated: _updated, devices, ...rest } = structuredClone(config);
    const row = addConfig(world, target.value, [], at);
    Object.assign(row.value, rest);
    for (const slot of slots) {
      const disk = made.get(devices[slot]?.disk_id ?? -1);
      row.value.devices[slot] = disk ? { disk_id: disk.id, volume_id: null } : null;
    }
  }
}
