/** The store of the service: all rows, the pending changes and the clock. */

import type { Clock } from "../clock.ts";
import { isObject } from "../fields/field.ts";
import { objectOf } from "../fields/typed-values.ts";
import type { ProductNames } from "../product-names.ts";
import type { Resource } from "../resource/resource-declaration.ts";
import type { RowTypes } from "../resources/row-types.ts";
import type { Id, SavedTable, Table } from "./store-table.ts";
import { createTable } from "./store-table.ts";

export interface Store {
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly names: ProductNames;
  readonly resources: readonly Resource[];
  /** Returns the table of a resource. */
  table<K extends keyof RowTypes>(name: K): Table<RowTypes[K]>;
  /** @throws {Error} if there is no such resource. */
  resource(name: keyof RowTypes): Resource;
  /** Returns the resources whose rows are children of this resource's rows. */
  childResources(name: keyof RowTypes): readonly Resource[];
  save(): SavedStore;
  restore(saved: SavedStore): void;
}

interface SavedStore {
  readonly tables: Readonly<Record<string, SavedTable>>;
  readonly ahead: readonly PendingChange[];
}

/** First ids per resource. They differ, so that an id of the wrong kind does not match by chance. */
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
  sshKey: 501,
  app: 88,
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

/** Returns a copy of the state; later changes do not affect it. */
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

// Pending changes: an instance is booted in two seconds, a disk is ready in three.
//
// There are no timers. Each request first applies all changes that are due, in order and with their own
// time. A stopped clock stops the service. Pending changes are plain data, so that they are saved with
// the rows.

/** A scheduled change of one row. */
export interface PendingChange {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly table: keyof RowTypes;
  readonly id: Id;
  /** The row's `job` at scheduling time. If the row has a newer job by then, the change is skipped. */
  readonly job: number;
  /** Members to set on the row. */
  readonly set?: object;
  /** Deletes the row and all rows below it. */
  readonly drop?: true;
  /** The event that ends with this change. */
  readonly event?: EventOutcome;
  /** Calls the resource's `onDue` instead, even if the row has a newer job. */
  readonly due?: true;
}

export interface EventOutcome {
  readonly id: Id;
  readonly status: "finished" | "failed";
  readonly message?: string;
}

interface Timeline {
  schedule(step: PendingChange): void;
  /** Applies all changes that are due at `now`. */
  runDue(now: number, apply: (step: PendingChange) => void): void;
  /** All pending changes, ordered by time. */
  readonly pending: readonly PendingChange[];
  restore(steps: readonly PendingChange[]): void;
}

function createTimeline(): Timeline {
  const ahead: PendingChange[] = [];
  return {
    pending: ahead,
    schedule(step) {
      // Insert after all changes that are not later, so that changes of one time keep their order.
      let [low, high] = [0, ahead.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((ahead[middle]?.at ?? 0) > step.at) high = middle;
        else low = middle + 1;
      }
      ahead.splice(low, 0, step);
    },
    runDue(now, apply) {
      for (let next = ahead[0]; next && next.at <= now; next = ahead[0]) {
        ahead.shift();
        apply(next);
      }
    },
    restore(steps) {
      ahead.splice(0, ahead.length, ...steps);
    },
  };
}
