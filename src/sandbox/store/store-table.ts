/**
 * The rows of one resource. Each row has a home: the account it belongs to, its parent row, or `publicHome`. Reading
 * one home takes time proportional to its number of rows.
 */

import type { Hidden } from "../resources/hidden-state.ts";
import type { UntypedRow } from "../resources/row-types.ts";

export type Id = number | string;

/** A stored row: the public object (`value`) and internal state. */
export interface Row<T extends UntypedRow = UntypedRow> {
  readonly id: Id;
  readonly home: string;
  readonly value: T;
  /** Number of the last job of this row. Scheduled changes of older jobs are skipped. */
  job: number;
  /** State that no response shows: secrets, grants, the last booted profile. */
  hidden?: Hidden;
}

/** The saved form of a table. */
export interface SavedTable<T extends UntypedRow = UntypedRow> {
  readonly next: number;
  readonly rows: readonly Row<T>[];
}

export interface Table<T extends UntypedRow = UntypedRow> {
  add(home: string, id: Id, value: T, hidden?: Hidden): Row<T>;
  /** Returns the row with this id. Any value is accepted, because ids come from requests. */
  get(id: unknown): Row<T> | undefined;
  /** Returns the rows of one home in the order of creation. */
  inHome(home: string): IterableIterator<Row<T>>;
  all(): IterableIterator<Row<T>>;
  count(home: string): number;
  remove(id: Id): void;
  removeAll(home: string): void;
  /** Returns the next free id of a numbered resource. */
  nextId(): number;
  save(): SavedTable<T>;
  restore(saved: SavedTable<T>): void;
}

/** Creates an empty table. @param firstId The id of the first row. */
export function createTable<T extends UntypedRow>(firstId = 1): Table<T> {
  const rows = new Map<unknown, Row<T>>();
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
    get: (id) => rows.get(id),
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
      for (const row of saved.rows) put({ ...row });
    },
  };
}
