/** The account's timeline: every action leaves an event (document 1, Events). */

import { dateTime } from "../clock.ts";
import type { Entity, Event } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";
import type { EventEnd } from "../store/timeline.ts";
import type { World } from "../store/world.ts";
import type { Call, Resource } from "./declaration.ts";

/** An account keeps so many events; beyond that the oldest go. */
const mostEvents = 10_000;

/** What a call is about, in the words of an event: the row itself, or the one above where that is declared. */
export function entityOf(call: Call, row: { readonly value: object }): Entity {
  const declared = call.resource.entity;
  if (!declared) throw new Error(`${call.resource.name} declares no entity, so it can leave no event`);
  return entityFor(call.resource, (declared.ofParent ? call.above.at(-1) : row) ?? row);
}

/** How events, notifications and tickets name a row. */
export function entityFor({ name, entity }: Resource, { value }: { readonly value: object }): Entity {
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
export function record(call: Call, action: string, row: { readonly value: object }, takes = 0): Row<Event> {
  const { world, caller, at } = call;
  const under = takes > 0;
  return addEvent(
    world,
    caller.account,
    {
      action,
      created: dateTime(at),
      duration: 0,
      entity: entityOf(call, row),
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
    under ? { began: at, ends: at + takes * 1000 } : undefined,
  );
}

/** Ends an event that was begun, where the account still keeps it. */
export function finishEvent(world: World, { id, status, message = "" }: EventEnd, at: number): void {
  const row = world.table("event").get(id);
  if (!row) return;
  const began = row.hidden?.progress?.began ?? at;
  const duration = Math.max(0, at - began) / 1000;
  Object.assign(row.value, { status, message, percent_complete: 100, duration });
  delete row.hidden;
}

/** Adds an event to an account's timeline. */
export function addEvent(
  world: World,
  account: string,
  event: Omit<Event, "id">,
  progress?: { readonly began: number; readonly ends: number },
): Row<Event> {
  const events = world.table("event");
  const id = events.nextId();
  const oldest = events.count(account) >= mostEvents ? events.of(account).next().value : undefined;
  if (oldest) events.remove(oldest.id);
  return events.add(account, id, { id, ...event }, progress && { progress });
}
