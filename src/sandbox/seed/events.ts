/** A history of the account: of every kind that the instances could have left. */

import { dateTime } from "../clock.ts";
import { addEvent } from "../resource/events.ts";
import type { Instance } from "../resources/shapes.ts";
import type { World } from "../store/world.ts";

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

const hour = 3_600_000;
/** The first of them have been seen, half of those also read. */
const seenPart = 0.7;

export function seedEvents(
  world: World,
  account: string,
  user: string,
  { url, kinds }: typeof eventKinds,
  count: number,
  today: number,
): void {
  const instances = [...world.table("instance").of(account)].map(({ value }) => value);
  if (instances.length === 0) return;
  for (let index = 0; index < count; index += 1) {
    const kind = kinds[index % kinds.length] as EventKind;
    const { id, label } = instances[index % instances.length] as Instance;
    const { action, status, type, percent, message = "" } = kind;
    const seen = index < count * seenPart;
    addEvent(world, account, {
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
  }
}
