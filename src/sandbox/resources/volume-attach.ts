/** Hangs volumes on instances and takes them off again. */

import { invalid } from "../http/problem.ts";
import type { ActionCall } from "../resource/declaration.ts";
import { record } from "../resource/events.ts";
import type { Row } from "../store/table.ts";
import type { World } from "../store/world.ts";
import { ownInstance } from "./address-create.ts";
import type { Instance, Volume } from "./shapes.ts";

const mostAttached = 8;

/** @throws {Problem} 400 where it is elsewhere, or the instance has all that it can have. */
export function attach(world: World, row: Row<Volume>, instance: Row<Instance>): void {
  const { vmId } = world.names;
  if (row.value.instance !== null) throw invalid("The volume is attached already");
  if (row.value.region !== instance.value.region) throw invalid("The instance is in another region", vmId);
  const held = [...world.table("volume").all()].filter(({ value }) => value.instance === instance.id);
  if (held.length >= mostAttached) throw invalid(`An instance takes ${mostAttached} volumes`, vmId);
  row.value.instance = instance.value.id;
}

export function attachTo(call: ActionCall<Volume>): Row<Volume> {
  const { world, row, body, action } = call;
  const { vmId } = world.names;
  attach(world, row, ownInstance(call, body[vmId], vmId));
  record(call, action.event ?? "", row);
  return row;
}

export function detach(call: ActionCall<Volume>): void {
  const { row, action } = call;
  if (row.value.instance === null) throw invalid("The volume is not attached");
  row.value.instance = null;
  record(call, action.event ?? "", row);
}

/** An instance that goes leaves its volumes behind. */
export function detachAll(world: World, instance: number): void {
  for (const { value } of world.table("volume").all()) if (value.instance === instance) value.instance = null;
}
