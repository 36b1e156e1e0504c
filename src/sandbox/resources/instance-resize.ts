/** Another plan for an instance: one that was asked for, or the free successor of its own (v4, Actions). */

import { invalid } from "../http/problem.ts";
import { recordEvent } from "../resource/events.ts";
import { childHome } from "../resource/locate.ts";
import type { Row } from "../store/table.ts";
import { growDisk, usedSpace } from "./disk-make.ts";
import { currentPlan } from "./instance-check.ts";
import type { InstanceCall } from "./instance-power.ts";
import { go, refuseBusy } from "./instance-power.ts";
import { refuseOutstanding } from "./outstanding.ts";
import type { Disk, Plan } from "./shapes.ts";

const moving = 5;

export function resize(call: InstanceCall): void {
  const { store, row, body, action } = call;
  const plan = currentPlan(store, body["type"]);
  if (!plan) throw invalid("type is not valid", "type");
  if (plan.id === row.value.type) throw invalid("The instance has this type already", "type");
  refuseOutstanding(call);
  if (row.hidden?.migration) throw invalid("A migration is pending for this instance");
  refuseBusy(call);
  change(call, plan, store.names.resized, action.event);
}

export function mutate(call: InstanceCall): void {
  const { store, row, action } = call;
  const plan = successorOf(call);
  if (!plan) throw invalid("There is no free upgrade for the type of this instance");
  refuseBusy(call);
  if (row.hidden?.migration) throw invalid("A migration is pending for this instance");
  change(call, plan, store.names.mutated, action.event);
}

/** The free upgrade of the instance's type, where there is one. */
export function successorOf({ store, row }: InstanceCall): Plan | undefined {
  const current = store.table("plan").get(row.value.type)?.value;
  return store.table("plan").get(current?.successor ?? undefined)?.value;
}

/** Members that an instance has from its plan. */
export function ofPlan({ id, disk, memory, vcpus, transfer, gpus }: Plan): object {
  return { type: id, specs: { disk, memory, vcpus, transfer, gpus } };
}

function change(call: InstanceCall, plan: Plan, event: string, begun = ""): void {
  const { store, row, body } = call;
  const grown = body["allow_auto_disk_resize"] === false ? undefined : onlySystemDisk(call);
  const free = plan.disk - usedSpace(store, row.value.id);
  if (free < 0 && (!grown || grown.value.size + free < 1))
    throw invalid(`The disks need ${-free} MB more than the type has; shrink or delete some`, "type");
  if (grown) growDisk(store, grown, { size: grown.value.size + free, durationSeconds: moving }, call.at);
  recordEvent(call, begun, row);
  const back = row.value.status;
  go(
    call,
    [
      { status: "migrating", durationSeconds: moving },
      { status: back, durationSeconds: 0, set: ofPlan(plan) },
    ],
    event,
  );
}

/** Disks are changed with the plan where there is one of ext and, besides, at most swap. */
function onlySystemDisk({ store, row }: InstanceCall): Row<Disk> | undefined {
  const disks = [...store.table("disk").inHome(childHome("instance", row.id))];
  const others = disks.filter(({ value }) => value.filesystem !== "swap");
  return others.length === 1 && others[0]?.value.filesystem.startsWith("ext") ? others[0] : undefined;
}
