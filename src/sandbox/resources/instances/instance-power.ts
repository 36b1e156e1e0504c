/** Boot, reboot, shutdown, rescue and the root password of an instance. */

import { objectOf } from "../../fields/typed-values.ts";
import type { FieldError } from "../../http/problem.ts";
import { invalid } from "../../http/problem.ts";
import { recordEvent } from "../../resource/event-log.ts";
import { parentOf } from "../../resource/find-rows.ts";
import type { ActionCall, Call, Store } from "../../resource/resource-declaration.ts";
import type { TransitionStage } from "../../resource/transitions.ts";
import { finishing, jobStages, startTransition, transitionSeconds } from "../../resource/transitions.ts";
import type { Row } from "../../store/store-table.ts";
import type { Instance } from "../row-types.ts";
import { childHome } from "../../store/homes.ts";

export type InstanceCall = ActionCall<Instance>;

/** Returns the instance in the path of a call. */
export function instanceOf(call: Pick<Call, "parents" | "store">): Row<Instance> {
  const row = call.store.table("instance").get(parentOf(call).id);
  if (!row) throw new Error("The path names no instance");
  return row;
}

/** Statuses of an instance without a running job. */
const idle = new Set(["running", "offline", "stopped"]);

export const booting = jobStages("booting", 2, "running");
const rebooting = jobStages("rebooting", 3, "running");
export const shuttingDown: TransitionStage = { status: "shutting_down", durationSeconds: 2 };

export function boot(call: InstanceCall): void {
  requireIdle(call);
  if (!isOff(call.row)) throw invalid(`${call.store.names.instance} ${call.row.id} already booted.`);
  requireConfig(call);
  startInstanceJob(call, booting);
}

export function reboot(call: InstanceCall): void {
  requireIdle(call);
  requireConfig(call);
  startInstanceJob(call, rebooting);
}

export function shutdown(call: InstanceCall): void {
  requireIdle(call);
  if (isOff(call.row)) throw invalid(`${call.store.names.instance} ${call.row.id} is not running.`);
  startInstanceJob(call, [shuttingDown, { status: "offline", durationSeconds: 0 }]);
}

/** Checks that the devices belong to the instance, as in a profile. */
export function checkRescue(call: InstanceCall): FieldError[] {
  return checkDevices(call, call.row, call.body["devices"], "devices");
}

export function rescue(call: InstanceCall): void {
  requireIdle(call);
  startInstanceJob(call, rebooting);
}

/** Records the action's event and starts the transition; the event finishes with it. */
export function startInstanceJob(
  call: InstanceCall,
  stages: readonly TransitionStage[],
  event = call.action.event ?? "",
): void {
  const { id } = recordEvent(call, event, call.row, transitionSeconds(stages));
  startTransition(call.store, "instance", call.row, call.at, stages, finishing(id));
}

export function isOff({ value }: { readonly value: Pick<Instance, "status"> }): boolean {
  return value.status === "offline" || value.status === "stopped";
}

/** Checks that no job runs. v4 rejects actions during a job with a reason that ends in "busy." and without a field. */
export function requireIdle({ store, row }: { readonly store: Store; readonly row: Row<Instance> }): void {
  if (!idle.has(row.value.status)) throw invalid(`${store.names.instance} busy.`);
}

/** Selects the profile to boot: `config_id`, otherwise the last booted profile, otherwise the only profile. */
function requireConfig({ store, row, body }: InstanceCall): void {
  const configs = [...store.table("config").inHome(childHome("instance", row.id))];
  const field = "config_id";
  const given = body[field] ?? undefined;
  const chosen = configs.find(({ id }) => id === given);
  if (given !== undefined && !chosen) throw invalid("config_id is not valid", field);
  const [first] = configs;
  if (!first) throw invalid("There is no configuration profile to boot");
  const last = configs.find(({ id }) => id === row.hidden?.config);
  if (!chosen && !last && configs.length > 1)
    throw invalid("config_id is needed: there are several profiles and none was booted yet", field);
  (row.hidden ??= {}).config = (chosen ?? last ?? first).value.id;
}

/** Checks that each device is a disk of the instance or a volume attached to it. */
export function checkDevices(
  { store }: { readonly store: Store },
  { id }: Row<Instance>,
  devices: unknown,
  field: string,
): FieldError[] {
  return Object.entries(objectOf(devices)).flatMap(([slot, device]): FieldError[] => {
    const { disk_id: disk, volume_id: volume } = objectOf(device);
    const path = `${field}.${slot}`;
    if (disk !== undefined && disk !== null && volume !== undefined && volume !== null)
      return [{ reason: "A device is a disk or a volume, not both", field: path }];
    if (typeof disk === "number" && store.table("disk").get(disk)?.home !== childHome("instance", id))
      return [{ reason: `${path}.disk_id is not valid`, field: `${path}.disk_id` }];
    if (typeof volume === "number" && store.table("volume").get(volume)?.value.instance !== id)
      return [{ reason: `${path}.volume_id is not valid`, field: `${path}.volume_id` }];
    return [];
  });
}
