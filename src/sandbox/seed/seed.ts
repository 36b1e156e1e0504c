/** Fills an empty world: two accounts, their instances and history, and the catalogs for everyone. */

import type { Image, Script } from "../resources/shapes.ts";
import type { Id, Table } from "../store/table.ts";
import { everyone } from "../store/table.ts";
import type { World } from "../store/world.ts";
import type { AccountSeed } from "./account-seed.ts";
import { billingOf } from "./billing.ts";
import { images, kernels, legacyPlans, plans, privateImage, regions } from "./catalogs.ts";
import { annasEstate, persEstate, serviceCatalogs } from "./seed-resources.ts";
import { eventKinds, jobKinds, seedEvents } from "./events.ts";
import { seedInstances } from "./instances.ts";
import { anna, per } from "./seed-users.ts";
import { scripts } from "./scripts.ts";
import { sowAccount } from "./seed-account.ts";
import { ageLast, markInstances } from "./special-cases.ts";

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
  annasEstate,
  persEstate,
};

const day = 86_400_000;
const otherInstances = 3;
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
export function seed(world: World, data: typeof seedData, { instances, accounts }: SeedOptions): void {
  const today = Math.floor(world.clock.now() / day) * day;
  seedCatalogs(world, data);
  addAll<Image>(world.table("image"), data.anna.id, [data.privateImage]);
  world.table("privateImage").nextId();
  seedInstances(world, data.anna.id, instances, 4123, today);
  seedInstances(world, data.per.id, otherInstances, 4124, today);
  markInstances(world, data.anna.id, today);
  ageLast(world, data.per.id, "g5-standard-8");
  seedEvents(world, data.anna.id, "ops-anna", data.eventKinds, data.jobKinds, 60, today);
  seedEvents(world, data.per.id, "per", data.eventKinds, data.jobKinds, 5, today);
  const annasBilling = billingOf(world, data.anna.id, { today, months: 3, paid: 3 });
  sowAccount(world, { ...data.anna, ...data.annasEstate, ...annasBilling }, today);
  const persBilling = billingOf(world, data.per.id, { today, months: 1, paid: 0 });
  sowAccount(world, { ...data.per, ...data.persEstate, ...persBilling }, today);
  for (const account of accounts) sowAccount(world, account, world.clock.now());
}

function seedCatalogs(world: World, data: typeof seedData): void {
  addAll(world.table("region"), everyone, data.regions);
  const closed = world.table("region").get(noUpgrades);
  if (closed) closed.hidden = { noUpgrades: true };
  addAll(world.table("image"), everyone, data.images);
  addAll(world.table("kernel"), everyone, data.kernels);
  addAll(world.table("plan"), everyone, data.plans);
  addAll(world.table("plan"), legacy, data.legacyPlans);
  for (const script of data.scripts) {
    addAll<Script>(world.table("script"), script.is_public ? everyone : data.anna.id, [script]);
  }
  const { orchVersion, engine, databaseType, storageCluster } = data.serviceCatalogs;
  addAll(world.table("orchVersion"), everyone, orchVersion);
  addAll(world.table("engine"), everyone, engine);
  addAll(world.table("databaseType"), everyone, databaseType);
  addAll(world.table("storageCluster"), everyone, storageCluster);
}

/** Copies, so that two sandboxes in one process never share an object. */
function addAll<T extends object>(table: Table<T>, home: string, values: readonly (T & { id: Id })[]): void {
  for (const value of values) table.add(home, value.id, structuredClone(value));
}
