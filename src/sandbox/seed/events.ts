/** A history of the account: of every kind that the instances could have left. */

import { dateTime } from "../clock.ts";
import { addEvent } from "../resource/events.ts";
import { startTransition } from "../resource/transitions.ts";
import type { Event, Instance } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";
import type { Store } from "../store/store.ts";

export interface EventKind {
  readonly action: string;
  readonly type: string;
  readonly status: string;
  readonly percent: number | null;
  readonly message?: string;
}

/** `url` is of the instance that the event is about. */
export const eventKinds: { readonly url: string; readonly kinds: readonly EventKind[] } = {
  url: "/v4/vm/instances/{id}",
  kinds: [
    { action: "vm_create", type: "vm", status: "finished", percent: 100 },
    { action: "disk_create", type: "disks", status: "finished", percent: 100 },
    { action: "vm_boot", type: "vm", status: "finished", percent: 100 },
    { action: "backups_enable", type: "backups", status: "notification", percent: null },
    { action: "vm_reboot", type: "vm", status: "finished", percent: 100 },
    { action: "disk_resize", type: "disks", status: "failed", percent: 100, message: "The disk is in use" },
    { action: "vm_snapshot", type: "vm", status: "started", percent: 40 },
    { action: "vm_shutdown", type: "vm", status: "finished", percent: 100 },
    { action: "vm_update", type: "vm", status: "notification", percent: null },
    { action: "password_reset", type: "vm", status: "finished", percent: 100 },
    { action: "lassie_reboot", type: "vm", status: "finished", percent: 100 },
    { action: "vm_migrate", type: "vm", status: "scheduled", percent: 0 },
  ],
};

/** What an instance is in the middle of at the start, by its status, and what it is in afterwards. */
export interface JobKind {
  readonly action: string;
  readonly type: string;
  readonly end: string;
}

export const jobKinds: Readonly<Record<string, JobKind>> = {
  booting: { action: "vm_boot", type: "vm", end: "running" },
  rebooting: { action: "vm_reboot", type: "vm", end: "running" },
  shutting_down: { action: "vm_shutdown", type: "vm", end: "offline" },
  provisioning: { action: "vm_create", type: "vm", end: "running" },
  deleting: { action: "vm_delete", type: "vm", end: "deleting" },
  migrating: { action: "vm_mutate", type: "vm", end: "running" },
  rebuilding: { action: "vm_rebuild", type: "vm", end: "running" },
  cloning: { action: "vm_clone", type: "vm", end: "offline" },
  restoring: { action: "backups_restore", type: "backups", end: "offline" },
};

const hour = 3_600_000;
/** Jobs of the seed began so many seconds before the start, and end one after the other after it. */
const [begunFor, firstEnd, between] = [60, 150, 10];
/** The first of them have been seen, half of those also read. */
const seenPart = 0.7;

export function seedEvents(
  store: Store,
  account: string,
  user: string,
  { url, kinds }: typeof eventKinds,
  jobs: typeof jobKinds,
  count: number,
  today: number,
): void {
  const rows = [...store.table("instance").inHome(account)];
  const instances = rows.map(({ value }) => value);
  if (instances.length === 0) return;
  const busy = rows.filter(({ value }) => Object.hasOwn(jobs, value.status)).slice(0, count);
  for (let index = 0; index < count - busy.length; index += 1) {
    const kind = kinds[index % kinds.length] as EventKind;
    const { id, label } = instances[index % instances.length] as Instance;
    const { action, status, type, percent, message = "" } = kind;
    const seen = index < count * seenPart;
    const event = addEvent(store, account, {
      action,
      created: dateTime(today - (count - index) * 11 * hour),
      duration: status === "finished" ? 4.2 : 0,
      entity: { id, label, type, url: url.replace("{id}", String(id)) },
      secondary_entity: null,
      percent_complete: percent,
      rate: null,
      read: seen && index % 2 === 0,
      seen,
      status,
      time_remaining: null,
      username: user,
      message,
    });
    if (status === "started" || status === "scheduled") endEvent(store, event, index);
  }
  busy.forEach((row, index) =>
    seedJob(store, row, jobs[row.value.status] as JobKind, { account, user, url, index }),
  );
}

/** When the job of this place in the order ends, in milliseconds. */
function endOf(store: Store, index: number): number {
  return store.clock.now() + (firstEnd + between * index) * 1000;
}

/** An event of long ago that is not over ends with the jobs of the start, whatever its instance does by then. */
function endEvent(store: Store, event: Row<Event>, index: number): void {
  const at = endOf(store, index % 10);
  const end = { id: event.value.id, status: "finished" } as const;
  store.timeline.schedule({ at, table: "event", id: event.id, job: event.job, event: end });
}

interface JobContext {
  readonly account: string;
  readonly user: string;
  readonly url: string;
  readonly index: number;
}

/** The event of what an instance is in the middle of, and the end of both. */
function seedJob(
  store: Store,
  row: Row<Instance>,
  kind: JobKind,
  { account, user, url, index }: JobContext,
): void {
  const { id, label, status, image } = row.value;
  const began = store.clock.now() - begunFor * 1000;
  const ends = endOf(store, index);
  const { action, type } = kind;
  const event = addEvent(
    store,
    account,
    {
      action,
      created: dateTime(began),
      duration: 0,
      entity: { id, label, type, url: url.replace("{id}", String(id)) },
      secondary_entity: null,
      percent_complete: 0,
      rate: null,
      read: false,
      seen: false,
      status: "started",
      time_remaining: null,
      username: user,
      message: "",
    },
    { began, ends },
  );
  const end = kind.end === "running" && image === null ? "offline" : kind.end;
  const stages = [
    { status, durationSeconds: (ends - store.clock.now()) / 1000 },
    { status: end, durationSeconds: 0 },
  ];
  startTransition(store, "instance", row, store.clock.now(), stages, {
    ...(end === "deleting" && { drop: true }),
    event: { id: event.value.id, status: "finished" },
  });
}
