/** Seeds an empty store: catalogs, two accounts, their instances and history. */

import { dateTime } from "../clock.ts";
import { planMembers } from "../resources/instances/instance-maintenance.ts";
import type { Image, Instance, Script, UntypedRow } from "../resources/row-types.ts";
import type { Id, Row, Table } from "../store/store-table.ts";
import { publicHome } from "../store/homes.ts";
import { seedAccount } from "./seed-account.ts";
import { images, kernels, legacyPlans, plans, privateImage, regions, scripts } from "./seed-catalogs.ts";
import type { AccountSeed } from "./seed-file.ts";
import { createBilling, eventKinds, jobKinds, seedEvents } from "./seed-history.ts";
import { seedInstances } from "./seed-instances.ts";
import { annasResources, persResources, serviceCatalogs } from "./seed-resources.ts";
import { anna, per } from "./seed-users.ts";
import type { Store } from "../resource/resource-declaration.ts";

/** All hand-written seed data. It is renamed to the configured product words before use. */
export const seedData = {
  regions,
  images,
  privateImage,
  kernels,
  plans,
  legacyPlans,
  scripts,
  eventKinds,
  jobKinds,
  serviceCatalogs,
  anna,
  per,
  annasEstate: annasResources,
  persEstate: persResources,
};

const day = 86_400_000;
const perInstances = 3;
/** Home of legacy plans, which cannot be ordered. */
const legacy = "legacy";
const noUpgrades = "eu-west";

interface SeedOptions {
  /** Number of instances of the main account. */
  readonly instances: number;
  /** Additional accounts, in the configured product words. */
  readonly accounts: readonly AccountSeed[];
}

/** Seeds the store. The result is the same for every start on the same day. @param data The renamed `seedData`. */
export function seed(store: Store, data: typeof seedData, { instances, accounts }: SeedOptions): void {
  const today = Math.floor(store.clock.now() / day) * day;
  seedCatalogs(store, data);
  addAll<Image>(store.table("image"), data.anna.id, [data.privateImage]);
  seedInstances(store, data.anna.id, instances, 4123, today);
  seedInstances(store, data.per.id, perInstances, 4124, today);
  seedSpecialCases(store, data.anna.id, today);
  giveLegacyPlan(store, data.per.id, "g5-standard-8");
  seedEvents(store, data.anna.id, "ops-anna", data.eventKinds, data.jobKinds, 60, today);
  seedEvents(store, data.per.id, "per", data.eventKinds, data.jobKinds, 5, today);
  const annasBilling = createBilling(store, data.anna.id, { today, months: 3, paid: 3 });
  seedAccount(store, { ...data.anna, ...data.annasEstate, ...annasBilling }, today);
  const persBilling = createBilling(store, data.per.id, { today, months: 1, paid: 0 });
  seedAccount(store, { ...data.per, ...data.persEstate, ...persBilling }, today);
  for (const account of accounts) seedAccount(store, account, store.clock.now());
}

function seedCatalogs(store: Store, data: typeof seedData): void {
  addAll(store.table("region"), publicHome, data.regions);
  const closed = store.table("region").get(noUpgrades);
  if (closed) closed.hidden = { noUpgrades: true };
  addAll(store.table("image"), publicHome, data.images);
  addAll(store.table("kernel"), publicHome, data.kernels);
  addAll(store.table("plan"), publicHome, data.plans);
  addAll(store.table("plan"), legacy, data.legacyPlans);
  for (const script of data.scripts) {
    addAll<Script>(store.table("script"), script.is_public ? publicHome : data.anna.id, [script]);
  }
  const { orchVersion, engine, databaseType, storageCluster } = data.serviceCatalogs;
  addAll(store.table("orchVersion"), publicHome, orchVersion);
  addAll(store.table("engine"), publicHome, engine);
  addAll(store.table("databaseType"), publicHome, databaseType);
  addAll(store.table("storageCluster"), publicHome, storageCluster);
}

/** Adds copies of the rows, so that two sandboxes in one process share no object. */
function addAll<T extends UntypedRow>(table: Table<T>, home: string, all: readonly (T & { id: Id })[]): void {
  for (const value of all) table.add(home, value.id, structuredClone(value));
}

// Single instances with special data, so that at least one instance is affected by each rule of v4.

/** Positions of special instances in the order of creation. A smaller account has fewer special cases. */
const migrationIndex = 20;
const poolIndex = 21;
const failoverIndexes = [22, 33] as const;
const rangeIndex = 24;

function seedSpecialCases(store: Store, account: string, today: number): void {
  const rows = [...store.table("instance").inHome(account)];
  const move = rows[migrationIndex];
  if (move) {
    move.value.status = "running";
    move.hidden = { ...move.hidden, migration: dateTime(today + 10 * day + day / 8) };
  }
  addRange(store, rows[poolIndex], "2001:db8:5::2:5000", 116, true);
  addRange(store, rows[rangeIndex], "2001:db8:e001:200::", 64, false);
  const [first, second] = failoverIndexes.map((index) => rows[index]);
  if (first && second) first.hidden = { ...first.hidden, shared: second.value.ipv4.slice(0, 1) };
}

function addRange(
  store: Store,
  row: Row<Instance> | undefined,
  range: string,
  prefix: number,
  pool: boolean,
): void {
  if (!row) return;
  row.value.status = "running";
  store.table("range").add(row.home, range, {
    range,
    prefix,
    region: row.value.region,
    route_target: row.value.ipv6?.replace(/\/\d+$/, "") ?? null,
    pool,
    instances: [row.value.id],
  });
}

/** Gives the last instance of an account a legacy plan with a free upgrade. */
function giveLegacyPlan(store: Store, account: string, type: string): void {
  const last = [...store.table("instance").inHome(account)].at(-1);
  const plan = store.table("plan").get(type)?.value;
  if (last && plan) Object.assign(last.value, planMembers(plan), { status: "running" });
}
