/** The account's timeline: every action leaves an event (document 1, Events). */

import { dateTime } from "../clock.ts";
import type { Entity, Event } from "../resources/row-types.ts";
import type { EventOutcome, Store } from "../store/sandbox-store.ts";
import type { Row } from "../store/store-table.ts";
import type { Call, Resource } from "./resource-declaration.ts";

/** An account keeps so many events; beyond that the oldest go. */
const maxEvents = 10_000;

/** What a call is about, in the words of an event: the row itself, or the one above where that is declared. */
function entityOfCall(call: Call, row: { readonly value: object }): Entity {
  const declared = call.resource.entity;
  if (!declared) throw new Error(`${call.resource.name} declares no entity, so it can leave no event`);
  return toEntity(call.resource, (declared.ofParent ? call.parents.at(-1) : row) ?? row);
}

/** How events, notifications and tickets name a row. */
export function toEntity({ name, entity }: Resource, { value }: { readonly value: object }): Entity {
  if (!entity) throw new Error(`${name} declares no entity`);
  const named = value as { id: number | string; label?: string };
  return {
    id: entity.id?.(value) ?? (named.id as number),
    label: entity.label?.(value) ?? named.label ?? "",
    type: entity.type,
    url: entity.url.replace("{id}", String(named.id)),
  };
}

/**
 * Records that something happens: at once, or with `takes` over so many seconds, at the end of which
 * whoever planned it finishes the event.
 */
export function recordEvent(
  call: Call,
  action: string,
  row: { readonly value: object },
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

/** Ends an event that was begun, where the account still keeps it. */
export function finishEvent(store: Store, { id, status, message = "" }: EventOutcome, at: number): void {
  const row = store.table("event").get(id);
  if (!row) return;
  const began = row.hidden?.progress?.began ?? at;
  const duration = Math.max(0, at - began) / 1000;
  Object.assign(row.value, { status, message, percent_complete: 100, duration });
  delete row.hidden;
}

/** Adds an event to an account's timeline. */
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
