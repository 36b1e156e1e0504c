/** Copies an instance to a new or an existing instance (V-150, V-162). */

import type { Fields } from "../../fields/field.ts";
import { numbersOf, stringOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { Problem } from "../../http/problem.ts";
import { canAccess, forbidden, grantToCreator } from "../../resource/access-control.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { childHome } from "../../store/homes.ts";
import { finishing, jobStages, startTransition } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import { addConfig, slots } from "./config-profile.ts";
import { addDisk, usedSpace } from "./disk.ts";
import { addInstance, currentPlan } from "./instance-create.ts";
import type { InstanceCall } from "./instance-power.ts";
import { isOff } from "./instance-power.ts";
import type { Config, Disk, Instance } from "../row-types.ts";
import { instanceLabel } from "../label-fields.ts";

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

const cloneSeconds = 6;
/** Maximum number of concurrent clones of one source. */
const maxConcurrentClones = 5;

/** The disks and profiles to copy. */
interface CloneSelection {
  readonly disks: readonly Disk[];
  readonly configs: readonly Config[];
}

export function cloneInstance(call: InstanceCall): Row<Instance> {
  const { store, row, at, action } = call;
  const parts = selectCloneSources(call);
  const errors = checkClone(call, parts);
  if (errors.length > 0) throw new Problem(400, errors);
  const running = (row.hidden?.clones ?? []).filter((ends) => ends > at);
  if (running.length >= maxConcurrentClones)
    throw new Problem(400, [
      { reason: `${maxConcurrentClones} clones of this instance are already being made` },
    ]);
  row.hidden = { ...row.hidden, clones: [...running, at + cloneSeconds * 1000] };
  const target = targetOf(call) ?? newTarget(call);
  copy(call, target, parts);
  const { id } = recordEvent(call, action.event ?? "", row, cloneSeconds);
  const { status } = target.value;
  const isNew = status === "provisioning";
  const stages = jobStages(isNew ? status : "cloning", cloneSeconds, isNew ? "offline" : status);
  startTransition(store, "instance", target, at, stages, finishing(id));
  return target;
}

function checkClone(call: InstanceCall, { disks }: CloneSelection): FieldError[] {
  const { store, body } = call;
  const { vmId } = store.names;
  const needed = disks.reduce((sum, { size }) => sum + size, 0);
  if (body[vmId] !== undefined) return checkTarget(call, needed, vmId);
  const errors: FieldError[] = [];
  const plan = currentPlan(store, body["type"]);
  if (!store.table("region").get(body["region"]))
    errors.push({ reason: "region must be given for a new instance, and valid", field: "region" });
  if (!plan) errors.push({ reason: "type must be given for a new instance, and valid", field: "type" });
  else if (plan.disk < needed) errors.push({ reason: `The disks need ${needed} MB`, field: "type" });
  return errors;
}

/** Checks that the target exists, is idle, differs from the source, and has enough space. */
function checkTarget(call: InstanceCall, needed: number, field: string): FieldError[] {
  const { store, row, body } = call;
  const target = targetOf(call);
  if (!target || target === row) return [{ reason: `${field} is not valid`, field }];
  if (!canAccess(call.resource, target, "read_write", call)) throw forbidden();
  const alone = ["region", "type", "label", "group", "backups_enabled"].filter(
    (name) => body[name] !== undefined,
  );
  if (alone.length > 0)
    return alone.map((name) => ({ reason: `${name} is for a new instance, not with ${field}`, field: name }));
  if (!isOff(target) && target.value.status !== "running") return [{ reason: "The target is busy", field }];
  const free = target.value.specs.disk - usedSpace(store, target.value.id);
  return free < needed ? [{ reason: `The target has ${free} MB free and ${needed} are needed`, field }] : [];
}

function targetOf({ store, caller, body }: InstanceCall): Row<Instance> | undefined {
  const row = store.table("instance").get(body[store.names.vmId]);
  return row?.home === caller.account ? row : undefined;
}

function newTarget(call: InstanceCall): Row<Instance> {
  const { store, caller, row, body, resource } = call;
  const plan = currentPlan(store, body["type"]);
  if (!plan) throw new Error("The type of a clone was checked before");
  const target = addInstance(call, {
    plan,
    region: String(body["region"]),
    label: typeof body["label"] === "string" ? body["label"] : undefined,
    group: stringOf(body["group"], row.value.group),
    tags: [...row.value.tags],
    image: row.value.image,
    backups: body["backups_enabled"] === true,
    privateIp: false,
  });
  grantToCreator(resource, caller, target.id);
  return target;
}

/** Selects the copied parts: `configs` (default all) with their disks, and additionally `disks`. */
function selectCloneSources({ store, row, body }: InstanceCall): CloneSelection {
  const home = childHome("instance", row.id);
  const disks = [...store.table("disk").inHome(home)].map(({ value }) => value);
  const configs = [...store.table("config").inHome(home)].map(({ value }) => value);
  const named = body["configs"] === undefined ? undefined : numbersOf(body["configs"]);
  const extra = numbersOf(body["disks"]);
  const errors: FieldError[] = [];
  if (named?.some((id) => !configs.some((config) => config.id === id)))
    errors.push({ reason: "configs is not valid", field: "configs" });
  if (extra.some((id) => !disks.some((disk) => disk.id === id)))
    errors.push({ reason: "disks is not valid", field: "disks" });
  if (errors.length > 0) throw new Problem(400, errors);
  const selected = configs.filter(({ id }) => named?.includes(id) ?? true);
  const used = new Set(
    selected.flatMap(({ devices }) => Object.values(devices).map((each) => each?.disk_id)),
  );
  return { configs: selected, disks: disks.filter(({ id }) => used.has(id) || extra.includes(id)) };
}

function copy({ store, at }: InstanceCall, target: Row<Instance>, { disks, configs }: CloneSelection): void {
  const copies = new Map(
    disks.map((disk) => [disk.id, addDisk(store, target.value.id, disk, at).value] as const),
  );
  for (const config of configs) {
    const { id: _id, created: _created, updated: _updated, devices, ...rest } = structuredClone(config);
    const row = addConfig(store, target.value, [], at);
    Object.assign(row.value, rest);
    for (const slot of slots) {
      const disk = copies.get(devices[slot]?.disk_id ?? -1);
      row.value.devices[slot] = disk ? { disk_id: disk.id, volume_id: null } : null;
    }
  }
}
