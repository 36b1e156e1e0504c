/** The store of the service: all rows, the pending changes and the clock. */

import type { Clock } from "../clock.ts";
import { isObject } from "../fields/field.ts";
import { objectOf } from "../fields/typed-values.ts";
import type { ProductNames } from "../product-names.ts";
import type { Resource, SavedStore, Store } from "../resource/resource-declaration.ts";
import type { RowTypes } from "../resources/row-types.ts";
import type { SavedTable, Table } from "./store-table.ts";
import { createTable } from "./store-table.ts";
import { type PendingChange, createTimeline } from "./timeline.ts";

/** First ids per resource. They differ, so that an id of a wrong resource does not match by chance. */
const firstIds: Readonly<Record<string, number>> = {
  instance: 5201,
  disk: 88010,
  config: 30077,
  backup: 640012,
  script: 90021,
  event: 910331,
  domain: 7010,
  record: 81234,
  volume: 31007,
  nodebalancer: 12077,
  nodebalancerConfig: 4401,
  nodebalancerNode: 66001,
  ticket: 220045,
  reply: 220111,
  token: 70311,
  login: 991,
  invoice: 3001,
  payment: 4101,
  paymentMethod: 1501,
  credential: 9911,
  service: 9971,
  cluster: 812,
  pool: 456,
  firewall: 1201,
  firewallDevice: 2201,
  database: 6101,
  databaseBackup: 6501,
  storageKey: 1301,
} satisfies Partial<Record<keyof RowTypes, number>>;

export function createStore(clock: Clock, names: ProductNames, resources: readonly Resource[]): Store {
  const tables = new Map<string, Table>();
  const plans = createTimeline();
  const byName = new Map(resources.map((each) => [each.name, each]));

  function tableNamed(name: string): Table {
    const found = tables.get(name);
    if (found) return found;
    const newTable = createTable(firstIds[name]);
    tables.set(name, newTable);
    return newTable;
  }

  return {
    clock,
    timeline: plans,
    names,
    resources,
    table: <K extends keyof RowTypes>(name: K) => tableNamed(name) as Table<RowTypes[K]>,
    resource(name) {
      const found = byName.get(name);
      if (!found) throw new Error(`No resource is called ${name}`);
      return found;
    },
    childResources: (name) => resources.filter(({ parent }) => parent === name),
    save: () => ({
      tables: Object.fromEntries([...tables].map(([name, each]) => [name, each.save()])),
      ahead: plans.pending,
    }),
    restore(saved) {
      tables.clear();
      for (const [name, rows] of Object.entries(saved.tables)) tableNamed(name).restore(rows);
      plans.restore(saved.ahead);
    },
  };
}

// The state of a store as JSON, to save and restore it.

export interface SavedState extends SavedStore {
  /** Format version. Other versions are rejected. */
  readonly version: 1;
}

/** Returns a copy of the state, which later changes do not affect. */
export function writeState(store: Store): SavedState {
  return structuredClone({ version: 1, ...store.save() });
}

/** Validates and copies a saved state. @throws {Error} if `writeState` did not create it. */
export function readState(state: unknown): SavedState {
  const { version, tables, ahead } = objectOf(state);
  if (version === 1 && hasTables(tables) && Array.isArray(ahead) && ahead.every(isPendingChange))
    return structuredClone({ version, tables, ahead });
  throw new Error("This is not a saved state of a sandbox");
}

function hasTables(value: unknown): value is SavedStore["tables"] {
  return isObject(value) && Object.values(value).every(isTable);
}

function isTable(value: unknown): value is SavedTable {
  if (!isObject(value) || !Number.isSafeInteger(value["next"]) || !Array.isArray(value["rows"])) return false;
  return value["rows"].every(
    (row: unknown) =>
      isObject(row) && hasIdAndJob(row) && typeof row["home"] === "string" && isObject(row["value"]),
  );
}

function isPendingChange(value: unknown): value is PendingChange {
  return (
    isObject(value) &&
    hasIdAndJob(value) &&
    Number.isFinite(value["at"]) &&
    typeof value["table"] === "string"
  );
}

function hasIdAndJob({ id, job }: Readonly<Record<string, unknown>>): boolean {
  return (typeof id === "number" || typeof id === "string") && Number.isSafeInteger(job);
}
