/** Everything that the service holds: its rows, what is about to happen to them, and the time. */

import type { Clock } from "../clock.ts";
import type { ProductNames } from "../names.ts";
import type { Resource } from "../resource/declaration.ts";
import type { Shapes } from "../resources/shapes.ts";
import type { SavedTable, Table } from "./table.ts";
import { createTable } from "./table.ts";
import type { PendingChange, Timeline } from "./timeline.ts";
import { createTimeline } from "./timeline.ts";

export interface Store {
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly names: ProductNames;
  readonly resources: readonly Resource[];
  /** The rows of one resource, by its name. */
  table<K extends keyof Shapes>(name: K): Table<Shapes[K]>;
  /** @throws {Error} where no resource is called so. */
  resource(name: keyof Shapes): Resource;
  /** The resources whose rows hang on rows of this one. */
  childResources(name: keyof Shapes): readonly Resource[];
  save(): SavedStore;
  restore(saved: SavedStore): void;
}

export interface SavedStore {
  readonly tables: Readonly<Record<string, SavedTable>>;
  readonly ahead: readonly PendingChange[];
}

/** Numbers start apart from each other, so that an id of the wrong kind meets nothing by chance. */
const firstIds: Partial<Record<keyof Shapes, number>> = {
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
  privateImage: 55012,
};

export function createStore(clock: Clock, names: ProductNames, resources: readonly Resource[]): Store {
  const tables = new Map<keyof Shapes, Table<object>>();
  const plans = createTimeline();
  const byName = new Map(resources.map((each) => [each.name, each]));

  function tableNamed(name: keyof Shapes): Table<object> {
    const found = tables.get(name);
    if (found) return found;
    const made = createTable<object>(firstIds[name]);
    tables.set(name, made);
    return made;
  }

  return {
    clock,
    timeline: plans,
    names,
    resources,
    table: <K extends keyof Shapes>(name: K) => tableNamed(name) as unknown as Table<Shapes[K]>,
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
      for (const [name, rows] of Object.entries(saved.tables)) tableNamed(name as keyof Shapes).restore(rows);
      plans.restore(saved.ahead);
    },
  };
}
