/** Hangs volumes on instances and takes them off again. */

import { invalid } from "../http/problem.ts";
import type { ActionCall } from "../resource/declaration.ts";
import { recordEvent } from "../resource/events.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import { ownInstance } from "./address-create.ts";
import type { Instance, Volume } from "./shapes.ts";

const mostAttached = 8;

/** @throws {Problem} 400 where it is elsewhere, or the instance has all that it can have. */
export function attach(store: Store, row: Row<Volume>, instance: Row<Instance>): void {
  const { vmId } = store.names;
  if (row.value.instance !== null) throw invalid("The volume is attached already");
  if (row.value.region !== instance.value.region) throw invalid("The instance is in another region", vmId);
  const held = [...store.table("volume").all()].filter(({ value }) => value.instance === instance.id);
  if (held.length >= mostAttached) throw invalid(`An instance takes ${mostAttached} volumes`, vmId);
  row.value.instance = instance.value.id;
}

export function attachTo(call: ActionCall<Volume>): Row<Volume> {
  const { store, row, body, action } = call;
  const { vmId } = store.names;
  attach(store, row, ownInstance(call, body[vmId], vmId));
  recordEvent(call, action.event ?? "", row);
  return row;
}

export function detach(call: ActionCall<Volume>): void {
  const { row, action } = call;
  if (row.value.instance === null) throw invalid("The volume is not attached");
  row.value.instance = null;
  recordEvent(call, action.event ?? "", row);
}

/** An instance that goes leaves its volumes behind. */
export function detachAll(store: Store, instance: number): void {
  for (const { value } of store.table("volume").all()) if (value.instance === instance) value.instance = null;
}
