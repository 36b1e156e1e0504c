/** Events and notifications of an account (V-041 to V-047, V-154, V-155). */

import { dateTime } from "../../clock.ts";
import type { Fields } from "../../fields/field.ts";
import { canAccessAccount, hasGrant } from "../../resource/access-control.ts";
import { toEntity } from "../../resource/event-log.ts";
import type { ActionCall, Call, CallContext, Resource } from "../../resource/resource-declaration.ts";
import type { Row } from "../../store/store-table.ts";
import type { Entity, Event, UntypedRow } from "../row-types.ts";

const entityFields: Fields = {
  id: { type: "integer", filter: true },
  label: { type: "string" },
  type: { type: "string", filter: true },
  url: { type: "string" },
};

const day = 86_400_000;
/** Maximum age of listed events. Older events can be read by id. */
const shownFor = 90 * day;
const readOnly = ["events:read_only"];

/** Returns the event with the progress at the time of the call. */
function present({ value, hidden }: Row<Event>, { at }: CallContext): UntypedRow {
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

/** Kinds of event entities that a user can access if the user can access their instance. */
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

/** Marks this event and all older ones as seen. */
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

// Notifications (V-043 to V-047). They are not stored: each is derived from its cause
// and disappears with it.

interface Notice {
  readonly label: string;
  readonly message: string;
  readonly type: string;
  readonly severity: "minor" | "major" | "critical";
  readonly entity?: Entity;
  readonly body?: string;
  readonly when?: string;
}

/** Returns the entity with a URL that contains no version prefix (V-042). */
function entityWithoutVersion({ store }: Call, row: Row, name: "instance" | "ticket"): Entity {
  const entity = toEntity(store.resource(name), row);
  return { ...entity, url: entity.url.replace(/^\/v4/, "") };
}

/** Returns notifications of planned host migrations. From its planned time, a migration waits for the owner to start it. */
function migrations(call: Call): Notice[] {
  const rows = [...call.store.table("instance").inHome(call.caller.account)];
  const planned = rows.filter(({ hidden }) => hidden?.migration !== undefined);
  return planned.map((row) => {
    const when = row.hidden?.migration ?? "";
    const due = when <= dateTime(call.at);
    return {
      entity: entityWithoutVersion(call, row, "instance"),
      label: due ? "Migration pending" : "Migration scheduled",
      message: "A host move is planned for this instance. You can begin it at a time that suits you.",
      type: due ? "migration_pending" : "migration_scheduled",
      severity: due ? "critical" : "major",
      when,
    };
  });
}

const off = new Set(["offline", "stopped", "deleting"]);

/** Returns a notification for domains that are not served: an account needs a running instance for its domains to be served. */
function unservedDomains({ store, caller }: Call): Notice[] {
  const domains = [...store.table("domain").inHome(caller.account)].some(
    ({ value }) => value["status"] === "active",
  );
  if (!domains) return [];
  for (const { value } of store.table("instance").inHome(caller.account))
    if (!off.has(value.status)) return [];
  return [
    {
      label: "Your DNS zones are not being served.",
      message: "Your domains will not be served by our name servers unless you have an active instance.",
      type: "notice",
      severity: "major",
    },
  ];
}

function paymentDue({ store, caller }: Call): Notice[] {
  const balance = store.table("account").get(caller.account)?.value.balance ?? 0;
  if (balance <= 0) return [];
  return [
    {
      label: "Payment due",
      message: `You have an outstanding balance of $${balance.toFixed(2)}.`,
      type: "payment_due",
      severity: "critical",
    },
  ];
}

/** Returns notifications of outages in the regions of the account's instances. */
function outages({ store, caller }: Call): Notice[] {
  const used = new Set([...store.table("instance").inHome(caller.account)].map(({ value }) => value.region));
  const down = [...used].filter((id) => store.table("region").get(id)?.value.status === "outage");
  return down.map((id) => ({
    entity: { id: 0, label: id, type: "region", url: `/regions/${id}` },
    label: `Outage in ${id}`,
    message: `We are aware of an issue in ${id} and are working on it.`,
    body: `**${id}** is affected. Instances there may not be reachable.`,
    type: "outage",
    severity: "major",
  }));
}

function rows(call: Call): readonly Row[] {
  const all = [...migrations(call), ...unservedDomains(call), ...paymentDue(call), ...outages(call)];
  return all.map((notice, id) => ({
    id,
    home: call.caller.account,
    job: 0,
    value: { entity: null, body: null, when: null, until: null, ...notice },
  }));
}

export const notification: Resource = {
  name: "notification",
  path: "/account/notifications",
  id: "integer",
  owner: "account",
  access: "required",
  area: "account",
  fields: {
    entity: { type: "object", nullable: true },
    label: { type: "string" },
    message: { type: "string" },
    body: { type: "string", nullable: true },
    type: { type: "string" },
    severity: { type: "string" },
    when: { type: "date-time", nullable: true },
    until: { type: "date-time", nullable: true },
  },
  list: { rows },
};
