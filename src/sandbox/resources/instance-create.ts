/** Makes an instance out of an image, a backup or nothing (v4, POST /vm/instances). */

import type { Call } from "../resource/declaration.ts";
import { recordEvent } from "../resource/events.ts";
import type { TransitionStage } from "../resource/transitions.ts";
import { transitionSeconds, startTransition } from "../resource/transitions.ts";
import type { Row } from "../store/table.ts";
import { addConfig } from "./config-make.ts";
import type { DiskPlan } from "./disk-make.ts";
import { addDisk, diskJob, imageDisks } from "./disk-make.ts";
import { imageOf } from "./image-deploy.ts";
import { backupOf, defaultSwap, planOf } from "./instance-check.ts";
import { addInstance } from "./instance-make.ts";
import { booting } from "./instance-power.ts";
import { keptInterfaces } from "./interfaces.ts";
import type { Instance, Plan } from "./shapes.ts";

export function createInstance(call: Call): Row<Instance> {
  const { store, body, at, resource } = call;
  const plan = planOf(call) as Plan;
  const row = addInstance(call, wishes(call, plan));
  const disks = disksFor(call, plan).map((disk) => addDisk(store, row.value.id, disk, at).value);
  const boots = disks.length > 0 && body["booted"] !== false;
  if (disks.length > 0) {
    const config = addConfig(store, row.value, disks, at, keptInterfaces(body["interfaces"]));
    if (boots) row.hidden = { config: config.value.id };
  }
  const stages: TransitionStage[] = [
    { status: "provisioning", durationSeconds: diskJob },
    ...(boots ? booting : [{ status: "offline", durationSeconds: 0 }]),
  ];
  const { id } = recordEvent(call, resource.create?.event ?? "", row, transitionSeconds(stages));
  startTransition(store, "instance", row, at, stages, { event: { id, status: "finished" } });
  return row;
}

function wishes(call: Call, plan: Plan): Parameters<typeof addInstance>[1] {
  const { store, caller, body } = call;
  const given = body as { label?: string; group?: string; tags?: string[]; region: string };
  const forced = store.table("settings").get(caller.account)?.value["backups_enabled"] === true;
  return {
    plan,
    region: given.region,
    label: given.label,
    group: given.group ?? "",
    tags: given.tags ?? [],
    image: imageOf(call)?.id ?? null,
    backups: forced || body["backups_enabled"] === true,
    privateIp: body["private_ip"] === true,
  };
}

function disksFor(call: Call, plan: Plan): readonly DiskPlan[] {
  const backup = backupOf(call);
  if (backup) return backup.disks;
  const image = imageOf(call);
  return image
    ? imageDisks(image, plan.disk, (call.body["swap_size"] as number | undefined) ?? defaultSwap)
    : [];
}
