/** Fills an empty world: two accounts, their instances and history, and the catalogs for everyone. */

import type { Image, Script } from "../resources/shapes.ts";
import type { Id, Table } from "../store/table.ts";
import { publicHome } from "../store/table.ts";
import type { Store } from "../store/store.ts";
import type { AccountSeed } from "./account-seed.ts";
import { createBilling } from "./billing.ts";
import { images, kernels, legacyPlans, plans, privateImage, regions } from "./catalogs.ts";
import { annasResources, persResources, serviceCatalogs } from "./seed-resources.ts";
import { eventKinds, jobKinds, seedEvents } from "./events.ts";
import { seedInstances } from "./instances.ts";
import { anna, per } from "./seed-users.ts";
import { scripts } from "./scripts.ts";
import { seedAccount } from "./seed-account.ts";
import { giveLegacyPlan, seedSpecialCases } from "./special-cases.ts";

/** Everything written by hand; renamed to the service's own words before it is used. */
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
/** Where plans stand that can no longer be had. */
const legacy = "legacy";
const noUpgrades = "eu-west";

export interface SeedOptions {
  /** How many instances the main account has. */
  readonly instances: number;
  /** Accounts besides the two, in the service's own words. */
  readonly accounts: readonly AccountSeed[];
}

/** @param data `seedData`, renamed. The result is the same for every start on the same day. */
export function seed(store: Store, data: typeof seedData, { instances, accounts }: SeedOptions): void {
  const today = Math.floor(store.clock.now() / day) * day;
  seedCatalogs(store, data);
  addAll<Image>(store.table("image"), data.anna.id, [data.privateImage]);
  store.table("privateImage").nextId();
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

/** Copies, so that two sandboxes in one process never share an object. */
function addAll<T extends object>(table: Table<T>, home: string, values: readonly (T & { id: Id })[]): void {
  for (const value of values) table.add(home, value.id, structuredClone(value));
}
