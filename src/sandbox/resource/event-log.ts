/** The event log of an account: every action records an event (V-181). */

import { dateTime } from "../clock.ts";
import { stringOf } from "../fields/typed-values.ts";
import type { Entity, Event, UntypedRow } from "../resources/row-types.ts";
import type { Row } from "../store/store-table.ts";
import type { Call, Resource, Store } from "./resource-declaration.ts";
import type { EventOutcome } from "../store/timeline.ts";

/** Maximum number of events per account. If there are more, the oldest are deleted. */
const maxEvents = 10_000;

/** Returns the entity that the event of a call contains: the row, or its parent if the resource declares this. */
function entityOfCall(call: Call, row: { readonly value: UntypedRow }): Entity {
  const declared = call.resource.entity;
  if (!declared) throw new Error(`${call.resource.name} declares no entity, so it can leave no event`);
  return toEntity(call.resource, (declared.ofParent ? call.parents.at(-1) : row) ?? row);
}

/** Returns the entity that events, notifications and tickets use for a row. */
export function toEntity({ name, entity }: Resource, { value }: { readonly value: UntypedRow }): Entity {
  if (!entity) throw new Error(`${name} declares no entity`);
  const { id, label } = value;
  return {
    id: entity.id?.(value) ?? Number(id),
    label: entity.label?.(value) ?? stringOf(label),
    type: entity.type,
    url: entity.url.replace("{id}", String(id)),
  };
}

/**
 * Records an event: finished at once, or running for `durationSeconds` seconds, after which
 * the scheduled change finishes it.
 */
export function recordEvent(
  call: Call,
  action: string,
  row: { readonly value: UntypedRow },
  durationSeconds = 0,
): Row<Event> {
  const { store, caller, at } = call;
  const under = durationSeconds > 0;
  return addEvent(
    store,
    caller.account,
    {
      action,
      created: dateTime(at),
      duration: 0,
      entity: entityOfCall(call, row),
      secondary_entity: null,
      percent_complete: under ? 0 : 100,
      rate: null,
      read: false,
      seen: false,
      status: under ? "started" : "finished",
      time_remaining: null,
      username: caller.user,
      message: "",
    },
    under ? { began: at, ends: at + durationSeconds * 1000 } : undefined,
  );
}

/** Finishes a running event, if the account still has it. */
export function finishEvent(store: Store, { id, status, message = "" }: EventOutcome, at: number): void {
  const row = store.table("event").get(id);
  if (!row) return;
  const began = row.hidden?.progress?.began ?? at;
  const duration = Math.max(0, at - began) / 1000;
  Object.assign(row.value, { status, message, percent_complete: 100, duration });
  delete row.hidden;
}

/** Adds an event to the log of an account. */
export function addEvent(
  store: Store,
  account: string,
  event: Omit<Event, "id">,
  progress?: { readonly began: number; readonly ends: number },
): Row<Event> {
  const events = store.table("event");
  const id = events.nextId();
  const oldest = events.count(account) >= maxEvents ? events.inHome(account).next().value : undefined;
  if (oldest) events.remove(oldest.id);
  return events.add(account, id, { id, ...event }, progress && { progress });
}
