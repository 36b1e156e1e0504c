/** Boot, reboot, shutdown, rescue and the root password of an instance. */

import type { FieldError } from "../http/problem.ts";
import { invalid } from "../http/problem.ts";
import { recordEvent } from "../resource/event-log.ts";
import { childHome } from "../resource/find-rows.ts";
import type { ActionCall, Call } from "../resource/resource-declaration.ts";
import type { TransitionStage } from "../resource/transitions.ts";
import { startTransition, transitionSeconds } from "../resource/transitions.ts";
import type { Store } from "../store/sandbox-store.ts";
import type { Row } from "../store/store-table.ts";
import { checkStrength } from "./image.ts";
import type { Instance } from "./row-types.ts";

export type InstanceCall = ActionCall<Instance>;

/** The instance in the path of a call about something that belongs to it. */
export function instanceOf({ parents }: Pick<Call, "parents">): Row<Instance> {
  return parents[0] as unknown as Row<Instance>;
}

/** States in which no job is running. */
const idle = new Set(["running", "offline", "stopped"]);

export const booting: readonly [TransitionStage, TransitionStage] = [
  { status: "booting", durationSeconds: 2 },
  { status: "running", durationSeconds: 0 },
];
const rebooting: readonly TransitionStage[] = [
  { status: "rebooting", durationSeconds: 3 },
  { status: "running", durationSeconds: 0 },
];
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

/** Devices must belong to the instance, as in a profile. */
export function checkRescue(call: InstanceCall): FieldError[] {
  return checkDevices(call, call.row, call.body["devices"], "devices");
}

export function rescue(call: InstanceCall): void {
  requireIdle(call);
  startInstanceJob(call, rebooting);
}

/** Sets the root password of the only disk that can have one. */
export function setPassword(call: InstanceCall): void {
  const { store, row, body, action } = call;
  const [fieldError] = checkStrength(body["root_pass"], "root_pass");
  if (fieldError) throw invalid(fieldError.reason, fieldError.field);
  if (!isOff(row)) throw invalid("The instance must be off");
  const disks = [...store.table("disk").inHome(childHome("instance", row.id))];
  const systems = disks.filter(({ value }) => value.filesystem !== "swap");
  if (systems.length !== 1) throw invalid("With none or several disks, use the password call of the disk");
  recordEvent(call, action.event ?? "", row);
}

/** Records the action's event and starts the transition; the event finishes with it. */
export function startInstanceJob(
  call: InstanceCall,
  stages: readonly TransitionStage[],
  event = call.action.event ?? "",
): void {
  const { id } = recordEvent(call, event, call.row, transitionSeconds(stages));
  startTransition(call.store, "instance", call.row, call.at, stages, { event: { id, status: "finished" } });
}

export function isOff({ value }: { readonly value: Pick<Instance, "status"> }): boolean {
  return value.status === "offline" || value.status === "stopped";
}

/** v4 rejects actions while a job runs: the reason ends in "busy." and names no field. */
export function requireIdle({ store, row }: { readonly store: Store; readonly row: Row<Instance> }): void {
  if (!idle.has(row.value.status)) throw invalid(`${store.names.instance} busy.`);
}

/** Selects the profile to boot: `config_id`, or the one booted last, or the only one. */
function requireConfig({ store, row, body }: InstanceCall): void {
  const home = childHome("instance", row.id);
  const configs = store.table("config");
  const given = body["config_id"] ?? undefined;
  if (given !== undefined && configs.get(given)?.home !== home)
    throw invalid("config_id is not valid", "config_id");
  if (configs.count(home) === 0) throw invalid("There is no configuration profile to boot");
  const last = configs.get(row.hidden?.config)?.home === home ? row.hidden?.config : undefined;
  const [first] = configs.inHome(home);
  const chosen = (given as number | undefined) ?? last ?? (first?.id as number);
  if (given === undefined && last === undefined && configs.count(home) > 1)
    throw invalid("config_id is needed: there are several profiles and none was booted yet", "config_id");
  (row.hidden ??= {}).config = chosen;
}

/** Each device must be a disk of the instance or a volume attached to it. */
export function checkDevices(
  { store }: { readonly store: Store },
  { id }: Row<Instance>,
  devices: unknown,
  field: string,
): FieldError[] {
  if (devices === null || typeof devices !== "object") return [];
  return Object.entries(devices).flatMap(([slot, device]: [string, unknown]): FieldError[] => {
    if (device === null || typeof device !== "object") return [];
    const { disk_id: disk, volume_id: volume } = device as { disk_id?: unknown; volume_id?: unknown };
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
