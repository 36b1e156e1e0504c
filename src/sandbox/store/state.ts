/** The whole state of a world as JSON, to be kept outside and brought back. */

import type { SavedStore, Store } from "./store.ts";

export interface SavedState extends SavedStore {
  /** Of this form; a state of another one is refused. */
  readonly version: 1;
}

/** A copy: what happens later does not change it. */
export function writeState(store: Store): SavedState {
  return structuredClone({ version: 1, ...store.save() });
}

/** @throws {Error} where it is not what `writeState` made. */
export function readState(state: unknown): SavedState {
  const { version, tables, ahead } = (state ?? {}) as Partial<SavedState>;
  const whole = isObject(tables) && Object.values(tables).every(isTable) && Array.isArray(ahead);
  if (version !== 1 || !whole || !ahead.every(isPendingChange))
    throw new Error("This is no saved state of a sandbox");
  return structuredClone({ version, tables, ahead });
}

function isTable(value: unknown): boolean {
  if (!isObject(value) || !Number.isSafeInteger(value["next"]) || !Array.isArray(value["rows"])) return false;
  return value["rows"].every(
    (row: unknown) =>
      isObject(row) &&
      (typeof row["id"] === "number" || typeof row["id"] === "string") &&
      typeof row["home"] === "string" &&
      Number.isSafeInteger(row["job"]) &&
      isObject(row["value"]),
  );
}

function isPendingChange(value: unknown): boolean {
  return isObject(value) && Number.isFinite(value["at"]) && typeof value["table"] === "string";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
