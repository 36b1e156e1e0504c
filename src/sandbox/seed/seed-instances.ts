/**
 * Realistic instances with all statuses, most regions, and many images and plans. Special cases have fixed indexes; the
 * rest is pseudo-random, and the same at every start.
 */

import { dateTime } from "../clock.ts";
import { childHome, publicHome } from "../store/homes.ts";
import { startTransition } from "../resource/transitions.ts";
import {
  freePrivateAddress,
  freePublicAddress,
  ipv6,
  addAddressRows,
} from "../resources/network/address-allocation.ts";
import { scheduleBackup } from "../resources/instances/backup-schedule.ts";
import { addConfig } from "../resources/instances/config-profile.ts";
import { imageDisks } from "../resources/instances/disk.ts";
import type { Backup, Disk, Image, Instance, Plan, Region, UntypedRow } from "../resources/row-types.ts";
import type { Random } from "../seeded-random.ts";
import { createRandom, itemAt } from "../seeded-random.ts";
import type { Row } from "../store/store-table.ts";
import type { Store } from "../resource/resource-declaration.ts";

const day = 86_400_000;

/** Statuses of the first instances; most later ones are running. */
const statuses = [
  "running",
  "offline",
  "booting",
  "rebooting",
  "shutting_down",
  "provisioning",
  "deleting",
  "migrating",
  "rebuilding",
  "cloning",
  "restoring",
  "stopped",
];
const emptyAt = 12;
const privateAt = 13;

const roles = ["web", "db", "cache", "mail", "build", "proxy", "api", "queue"];
const groups = ["", "shop", "staging", "mail", "Shop"];
const tags = ["prod", "staging", "eu", "temp", "customer-7"];

interface Kinds {
  readonly regions: readonly Region[];
  readonly images: readonly Image[];
  readonly plans: readonly Plan[];
  readonly own: Image | undefined;
}

/**
 * Adds the instances of an account.
 * @param today Midnight before start-up, in milliseconds. All ages are relative to it.
 */
export function seedInstances(
  store: Store,
  account: string,
  count: number,
  seed: number,
  today: number,
): void {
  const chance = createRandom(seed);
  const kinds: Kinds = {
    regions: values(store.table("region").inHome(publicHome)),
    images: values(store.table("image").inHome(publicHome)),
    plans: values(store.table("plan").inHome(publicHome)),
    own: values(store.table("image").inHome(account))[0],
  };
  for (let index = 0; index < count; index += 1) seedInstance(store, account, index, kinds, chance, today);
}

function seedInstance(
  store: Store,
  account: string,
  index: number,
  kinds: Kinds,
  chance: Random,
  today: number,
): void {
  const id = store.table("instance").nextId();
  const image = imageAt(index, kinds, chance);
  const plan = planAt(index, kinds, image);
  const row = store
    .table("instance")
    .add(account, id, makeInstance(store, id, index, kinds, image, plan, chance, today));
  addAddressRows(store, row);
  if (!image) return;
  const disks = seedDisks(store, row, index, image, plan);
  const config = addConfig(store, row.value, disks, Date.parse(`${row.value.created}Z`));
  row.hidden = { config: config.value.id };
  seedBackups(store, row, index, disks, today);
}

function makeInstance(
  store: Store,
  id: number,
  index: number,
  { regions }: Kinds,
  image: Image | undefined,
  plan: Plan,
  chance: Random,
  today: number,
): Instance {
  const { disk, memory, vcpus, transfer, gpus } = plan;
  const region = itemAt(regions, index).id;
  const created = today - chance.integer(35, 700) * day + chance.integer(0, 86_399) * 1000;
  return {
    id,
    label: `${chance.pick(roles)}-${String(index + 1).padStart(2, "0")}`,
    group: groups[index % groups.length] ?? "",
    tags: tags.filter(() => chance.next() < 0.3),
    region,
    image: image?.id ?? null,
    type: plan.id,
    status:
      index === emptyAt ? "offline" : (statuses[index] ?? (chance.next() < 0.8 ? "running" : "offline")),
    hypervisor: "kvm",
    created: dateTime(created),
    updated: dateTime(created + chance.integer(1, 30) * day),
    ipv4: [freePublicAddress(store, region, id), ...(index % 3 === 0 ? [freePrivateAddress(store, id)] : [])],
    ipv6: index % 17 === 16 ? null : ipv6(store, region, id),
    specs: { disk, memory, vcpus, transfer, gpus },
    alerts: {
      cpu: index % 5 === 2 ? 0 : 90 * vcpus,
      network_in: index % 7 === 3 ? 0 : 10,
      network_out: 10,
      transfer_quota: index % 11 === 4 ? 0 : 80,
      io: index % 6 === 5 ? 0 : 10_000,
    },
    backups: { enabled: false, schedule: { day: null, window: null }, last_successful: null },
    watchdog_enabled: index % 8 !== 7,
  };
}

function imageAt(index: number, { images, own }: Kinds, chance: Random): Image | undefined {
  if (index === emptyAt) return undefined;
  return index === privateAt && own ? own : chance.pick(images);
}

function planAt(index: number, { plans }: Kinds, image: Image | undefined): Plan {
  const fitting = plans.filter((plan) => plan.disk > (image?.size ?? 0) + 4096);
  return itemAt(fitting, index);
}

/** Adds the disks of an instance. Some instances have free space, and some have a third disk. */
function seedDisks(store: Store, row: Row<Instance>, index: number, image: Image, plan: Plan): Disk[] {
  const free = index % 4 === 1 ? 4096 : 0;
  const data = index % 7 === 3 ? 2048 : 0;
  const planned = imageDisks(image, plan.disk - free - data, 512);
  if (data > 0) planned.push({ label: "data", size: data, filesystem: index % 2 === 0 ? "ext3" : "raw" });
  return planned.map((disk) => {
    const id = store.table("disk").nextId();
    const { created, updated } = row.value;
    const value: Disk = Object.assign({ id, status: "ready", created, updated }, disk);
    store.table("disk").add(childHome("instance", row.id), id, value);
    return value;
  });
}

function values<T extends UntypedRow>(rows: Iterable<Row<T>>): T[] {
  return [...rows].map(({ value }) => value);
}

// Backups of various ages: automatic ones, a failed one, finished and running snapshots. One instance has backups
// enabled but none yet.

const minute = 60_000;

interface BackupSeed {
  readonly age: number;
  readonly status: string;
  readonly label?: string;
}

/** Backups of an instance, oldest first. A backup with a `label` is a snapshot. */
const histories: readonly (readonly BackupSeed[])[] = [
  [
    { age: 15, status: "successful" },
    { age: 8, status: "successful" },
    { age: 3, status: "successful", label: "before-upgrade" },
    { age: 1, status: "successful" },
  ],
  [
    { age: 9, status: "successful" },
    { age: 2, status: "failed" },
    { age: 0, status: "running", label: "under-way" },
  ],
  [],
  [
    { age: 16, status: "successful" },
    { age: 9, status: "successful" },
    { age: 2, status: "successful" },
    { age: 1, status: "failed" },
    { age: 20, status: "failed", label: "too-big" },
  ],
  [{ age: 1, status: "successful" }],
];

const scheduleDays = ["Saturday", "Sunday", "Scheduling", "Wednesday", "Monday"];
const scheduleWindows = ["W10", "W2", "Scheduling", "W22", "W0"];

/** Adds the backups. Every fourth instance has backups enabled. */
function seedBackups(
  store: Store,
  row: Row<Instance>,
  index: number,
  disks: readonly Disk[],
  today: number,
): void {
  if (index % 4 !== 0) return;
  const which = (index / 4) % histories.length;
  const { backups } = row.value;
  backups.enabled = true;
  backups.schedule = { day: scheduleDays[which] ?? null, window: scheduleWindows[which] ?? null };
  for (const planned of histories[which] ?? []) {
    const backup = makeBackup(store, row.value, planned, disks, today);
    const added = store.table("backup").add(childHome("instance", row.id), backup.id, backup);
    if (backup.status === "running") finishSnapshot(store, added);
    if (backup.type === "auto" && backup.status === "successful") backups.last_successful = backup.finished;
  }
  scheduleBackup(store, row, store.clock.now());
}

/** Schedules the end of a snapshot that is running at start-up. */
function finishSnapshot(store: Store, row: Row<Backup>): void {
  const now = store.clock.now();
  const finished = dateTime(now + 3 * minute);
  startTransition(store, "backup", row, now, [
    { status: "running", durationSeconds: 120 },
    { status: "needsPostProcessing", durationSeconds: 60 },
    { status: "successful", durationSeconds: 0, set: { finished } },
  ]);
}

function makeBackup(
  store: Store,
  { region }: Instance,
  { age, status, label }: BackupSeed,
  disks: readonly Disk[],
  today: number,
): Backup {
  const usual = today - age * day + 2 * 60 * minute;
  const began = Math.min(usual, store.clock.now() - 20 * minute);
  const done = status !== "running";
  return {
    id: store.table("backup").nextId(),
    type: label === undefined ? "auto" : "snapshot",
    status,
    label: label ?? null,
    region,
    created: dateTime(began),
    updated: dateTime(began + 14 * minute),
    finished: done ? dateTime(began + 13 * minute) : null,
    configs: ["Main profile"],
    disks: disks.map(({ size, filesystem, label }) => ({ size, filesystem, label })),
  };
}
