/** The account's timeline (document 1, Event). */

import type { ActionCall, Call, Resource, CallContext } from "../resource/declaration.ts";
import { hasGrant, canAccessAccount } from "../resource/grants.ts";
import type { Fields } from "../rules/field.ts";
import type { Row } from "../store/table.ts";
import type { Event } from "./shapes.ts";

const entityFields: Fields = {
  id: { type: "integer", filter: true },
  label: { type: "string" },
  type: { type: "string", filter: true },
  url: { type: "string" },
};

const day = 86_400_000;
/** The list goes back so far; an older event is still read by its id (v4, Events). */
const shownFor = 90 * day;
const readOnly = ["events:read_only"];

/** What is under way is as far as the time says. */
function present({ value, hidden }: Row<Event>, { at }: CallContext): object {
  const progress = hidden?.progress;
  if (!progress) return value;
  const { began, ends } = progress;
  const part = Math.min(0.99, Math.max(0, (at - began) / (ends - began)));
  const moves = /migrate|resize/.test(value.action);
  return {
    ...value,
    percent_complete: Math.floor(part * 100),
    duration: Math.max(0, at - began) / 1000,
    rate: moves ? "112.4 MB/s" : null,
    time_remaining: moves ? new Date(Math.max(0, ends - at)).toISOString().slice(11, 19) : null,
  };
}

/** Entities of events that are reached with their instance. */
const ofInstance = new Set(["disks", "backups", "ipaddress"]);

function visible({ value }: Row<Event>, { caller, store }: CallContext): boolean {
  if (!caller.grants || value.username === caller.user) return true;
  const { entity } = value;
  if (!entity) return canAccessAccount(caller, "read_only");
  const kind = ofInstance.has(entity.type) ? store.names.label : entity.type;
  const granted = store.resources.some(({ grant }) => typeof grant === "object" && grant.entity === kind);
  return granted ? hasGrant(caller, kind, entity.id, "read_only") : canAccessAccount(caller, "read_only");
}

function recent({ store, caller, at }: Call): readonly Row<Event>[] {
  const oldest = new Date(at - shownFor).toISOString().slice(0, 19);
  return [...store.table("event").inHome(caller.account)]
    .filter(({ value }) => value.created >= oldest)
    .toReversed();
}

/** Everything up to and including this one. */
function markSeen({ store, caller, row }: ActionCall<Event>): void {
  for (const { value } of store.table("event").inHome(caller.account))
    if (value.id <= row.value.id) value.seen = true;
}

export const event: Resource<Event> = {
  name: "event",
  path: "/account/events",
  id: "integer",
  owner: "account",
  access: "required",
  area: "events",
  fields: {
    id: { type: "integer", filter: true },
    action: { type: "string", filter: true },
    created: { type: "date-time", filter: true },
    duration: { type: "number" },
    entity: { type: "object", nullable: true, members: entityFields },
    secondary_entity: { type: "object", nullable: true },
    percent_complete: { type: "integer", nullable: true },
    rate: { type: "string", nullable: true },
    read: { type: "boolean" },
    seen: { type: "boolean" },
    status: { type: "string" },
    time_remaining: { type: "string", nullable: true },
    username: { type: "string" },
    message: { type: "string" },
  },
  list: { rows: recent },
  read: true,
  serialize: present,
  isVisible: visible,
  actions: [
    { method: "POST", path: "/seen", scopes: readOnly, grant: "read_only", run: markSeen },
    {
      method: "POST",
      path: "/read",
      scopes: readOnly,
      grant: "read_only",
      run: ({ row }) => void (row.value.read = true),
    },
  ],
};
