/**
 * The rows of one kind of resource. A row lives in a home: the account it belongs to, the parent it hangs
 * on, or `everyone`. Reading one home costs what that home holds, however many others there are.
 */

import type { Hidden } from "../resources/hidden-state.ts";

/** The home of what every caller may see: catalogs, public images and scripts. */
export const publicHome = "everyone";

export type Id = number | string;

/** A row as stored: what clients see (`value`) and what they don't. */
export interface Row<T extends object = Record<string, unknown>> {
  readonly id: Id;
  readonly home: string;
  readonly value: T;
  /** Counts the changes planned for this row, so that a plan that was overtaken is known by its number. */
  job: number;
  /** What no answer shows: secrets, grants, what was booted last. */
  hidden?: Hidden;
}

/** What is left of a table between two runs. */
export interface SavedTable {
  readonly next: number;
  readonly rows: readonly Row<object>[];
}

export interface Table<T extends object = Record<string, unknown>> {
  add(home: string, id: Id, value: T, hidden?: Hidden): Row<T>;
  /** Takes anything that a caller may have written for an id. */
  get(id: unknown): Row<T> | undefined;
  /** In the order of creation. */
  inHome(home: string): IterableIterator<Row<T>>;
  all(): IterableIterator<Row<T>>;
  count(home: string): number;
  remove(id: Id): void;
  removeAll(home: string): void;
  /** The next free number, for resources that are numbered. */
  nextId(): number;
  save(): SavedTable;
  restore(saved: SavedTable): void;
}

/** @param firstId The number that the first row gets. */
export function createTable<T extends object>(firstId = 1): Table<T> {
  const rows = new Map<Id, Row<T>>();
  const homes = new Map<string, Map<Id, Row<T>>>();
  let next = firstId;

  function put(row: Row<T>): Row<T> {
    rows.set(row.id, row);
    const family = homes.get(row.home) ?? new Map<Id, Row<T>>();
    homes.set(row.home, family.set(row.id, row));
    if (typeof row.id === "number" && row.id >= next) next = row.id + 1;
    return row;
  }

  function remove(id: Id): void {
    const row = rows.get(id);
    if (!row) return;
    rows.delete(id);
    const home = homes.get(row.home);
    home?.delete(id);
    if (home?.size === 0) homes.delete(row.home);
  }

  return {
    add: (home, id, value, hidden) => put({ id, home, value, job: 0, ...(hidden && { hidden }) }),
    get: (id) => rows.get(id as Id),
    inHome: (home) => (homes.get(home) ?? new Map<Id, Row<T>>()).values(),
    all: () => rows.values(),
    count: (home) => homes.get(home)?.size ?? 0,
    remove,
    removeAll(home) {
      for (const id of homes.get(home)?.keys() ?? []) remove(id);
    },
    nextId() {
      next += 1;
      return next - 1;
    },
    save: () => ({ next, rows: [...rows.values()] }),
    restore(saved) {
      rows.clear();
      homes.clear();
      next = saved.next;
      for (const row of saved.rows) put({ ...(row as Row<T>) });
    },
  };
}
