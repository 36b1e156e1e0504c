/** Seed data of the past: events of all kinds, invoices and payments. */

import { dateTime } from "../clock.ts";
import { addEvent } from "../resource/event-log.ts";
import { jobStages, startTransition } from "../resource/transitions.ts";
import { itemAt } from "../seeded-random.ts";
import type { Event, Instance, Plan } from "../resources/row-types.ts";
import type { Row } from "../store/store-table.ts";
import { publicHome } from "../store/homes.ts";
import type { Store } from "../resource/resource-declaration.ts";
import type { Seeds } from "./seed-file.ts";

export interface EventKind {
  readonly action: string;
  readonly type: string;
  readonly status: string;
  readonly percent: number | null;
  readonly message?: string;
}

/** Kinds of events. `url` is the path of the event's instance. */
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

/** A running job of an instance at start-up: the instance's status, and the status after the job. */
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
/** Seeded jobs started this many seconds before start-up; the first ends after `firstEnd`, the next ones at intervals of `between`. */
const [begunFor, firstEnd, between] = [60, 150, 10];
/** Fraction of the events that are seen; half of those are also read. */
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
    const { id, label } = itemAt(instances, index);
    const { action, status, type, percent, message = "" } = itemAt(kinds, index);
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
  busy.forEach((row, index) => {
    const job = jobs[row.value.status];
    if (job) seedJob(store, row, job, { account, user, url, index });
  });
}

/** Returns the end time of the job with this index, in milliseconds. */
function endOf(store: Store, index: number): number {
  return store.clock.now() + (firstEnd + between * index) * 1000;
}

/** Schedules the end of an old running event, independently of its instance. */
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

/** Adds the event of an instance's running job and schedules the end of both. */
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
  const stages = jobStages(status, (ends - store.clock.now()) / 1000, end);
  startTransition(store, "instance", row, store.clock.now(), stages, {
    ...(end === "deleting" && { drop: true }),
    event: { id: event.value.id, status: "finished" },
  });
}

// Invoices of the past months and their payments.

const taxRate = 0.25;
/** Number of instances per invoice. */
const instancesPerInvoice = 2;

const cents = (dollars: number): number => Math.round(dollars * 100) / 100;

interface Month {
  /** The billed month, in milliseconds since 1970; `to` is the start of the next month. */
  readonly from: number;
  readonly to: number;
}

function createInvoiceItem(
  label: string,
  type: "hourly" | "misc",
  { from, to }: Month,
  price: number,
  quantity: number,
): Seeds[number] {
  const amount = cents(price * quantity);
  const tax = cents(amount * taxRate);
  return {
    label,
    type,
    from: dateTime(from),
    to: dateTime(to - 1000),
    quantity,
    unit_price: String(price),
    amount,
    tax,
    total: cents(amount + tax),
  };
}

function invoiceItemsFor({ label, backups }: Instance, plan: Plan, month: Month): Seeds {
  const hours = (month.to - month.from) / hour;
  const uptime = createInvoiceItem(`${label} - ${plan.label}`, "hourly", month, plan.price.hourly, hours);
  const { monthly } = plan.addons.backups.price;
  return backups.enabled
    ? [uptime, createInvoiceItem(`Backups - ${label}`, "misc", month, monthly, 1)]
    : [uptime];
}

/** Returns the oldest instances, which existed during the whole month. */
function oldestInstances(store: Store, account: string, { from }: Month): Instance[] {
  return [...store.table("instance").inHome(account)]
    .map(({ value }) => value)
    .filter(({ created }) => Date.parse(`${created}Z`) <= from)
    .slice(0, instancesPerInvoice);
}

function monthBefore(today: number, back: number): Month {
  const date = new Date(today);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  return { from: Date.UTC(year, month - back), to: Date.UTC(year, month - back + 1) };
}

/**
 * Creates the invoices of past months and their payments.
 * @param months Number of invoices; the newest is for the last complete month.
 * @param paid Number of paid invoices, starting with the oldest.
 */
export function createBilling(
  store: Store,
  account: string,
  { today, months, paid }: { readonly today: number; readonly months: number; readonly paid: number },
): { readonly invoices: Seeds; readonly payments: Seeds } {
  const plans = new Map([...store.table("plan").inHome(publicHome)].map(({ value }) => [value.id, value]));
  const invoices = Array.from({ length: months }, (_, index): Seeds => {
    const month = monthBefore(today, months - index);
    const items = oldestInstances(store, account, month).flatMap((instance) => {
      const plan = plans.get(instance.type ?? "");
      return plan ? invoiceItemsFor(instance, plan, month) : [];
    });
    if (items.length === 0) return [];
    const sum = (member: string): number =>
      cents(items.reduce((total, each) => total + Number(each[member]), 0));
    const id = store.table("invoice").nextId();
    const totals = { subtotal: sum("amount"), tax: sum("tax"), total: sum("total") };
    return [{ id, date: dateTime(month.to + 4 * hour), label: `Invoice #${id}`, ...totals, items }];
  }).flat();
  const payments = invoices
    .slice(0, paid)
    .map(({ date, total }) => ({ date: dateTime(Date.parse(`${String(date)}Z`) + 56 * hour), usd: total }))
    .filter(({ date }) => date <= dateTime(today));
  return { invoices, payments };
}
