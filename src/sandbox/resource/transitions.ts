/** Status transitions of rows over time. */

import { dateTime } from "../clock.ts";
import type { RowTypes } from "../resources/row-types.ts";
import type { Id, Row } from "../store/store-table.ts";
import { finishEvent } from "./event-log.ts";
import { childHome } from "../store/homes.ts";
import type { Store } from "./resource-declaration.ts";
import type { PendingChange } from "../store/timeline.ts";

export interface TransitionStage {
  readonly status: string;
  /** Seconds until the next stage; ignored for the last stage. */
  readonly durationSeconds: number;
  /** Other members to set with the status. */
  readonly set?: object;
}

/** Returns the stages of a job that ends in status `end`. */
export function jobStages(
  status: string,
  durationSeconds: number,
  end: string,
): [TransitionStage, TransitionStage] {
  return [
    { status, durationSeconds },
    { status: end, durationSeconds: 0 },
  ];
}

/** The additional effects of the last stage: delete the row, or finish an event. */
export type TransitionEnd = Pick<PendingChange, "drop" | "event">;

/** Returns the end of a transition that finishes an event, if there is one. */
export function finishing(id: Id | undefined): TransitionEnd {
  return id === undefined ? {} : { event: { id, status: "finished" } };
}

/**
 * Starts a transition of a row. A later transition of the same row cancels the remaining stages
 * of an earlier one.
 *
 * @param at Start of the first stage, in milliseconds.
 */
export function startTransition(
  store: Store,
  table: keyof RowTypes,
  row: Row,
  at: number,
  stages: readonly TransitionStage[],
  ending: TransitionEnd = {},
): void {
  row.job += 1;
  let time = at;
  stages.forEach(({ status, durationSeconds, set }, index) => {
    const last = index === stages.length - 1;
    const step: PendingChange = {
      at: time,
      table,
      id: row.id,
      job: row.job,
      set: { ...set, status },
      ...(last && ending),
    };
    if (time <= at) applyChange(store, step);
    else store.timeline.schedule(step);
    time += durationSeconds * 1000;
  });
}

/** Returns the total duration of the stages, in seconds. */
export function transitionSeconds(stages: readonly TransitionStage[]): number {
  return stages.slice(0, -1).reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
}

/** Applies all changes that are due. */
export function runDueEvents(store: Store, now: number): void {
  store.timeline.runDue(now, (step) => applyChange(store, step));
}

function applyChange(store: Store, step: PendingChange): void {
  const { at, table, set, drop, event } = step;
  const row = store.table(table).get(step.id);
  if (step.due) {
    if (row) store.resource(table).onDue?.(row, store, at);
    return;
  }
  if (!row || row.job !== step.job) {
    if (event) finishEvent(store, { ...event, status: "failed", message: "Replaced by another action" }, at);
    return;
  }
  const { afterTransition } = store.resource(table);
  const before = afterTransition && structuredClone(row.value);
  Object.assign(row.value, set);
  if (before) afterTransition?.(row, store, before);
  if (set && Object.hasOwn(row.value, "updated")) Object.assign(row.value, { updated: dateTime(at) });
  if (drop) deleteCascade(store, table, row);
  if (event) finishEvent(store, event, at);
}

// Deletes a row with all its descendants.

export function deleteCascade(store: Store, name: keyof RowTypes, row: Row): void {
  for (const below of store.childResources(name)) {
    for (const child of store.table(below.name).inHome(childHome(name, row.id))) {
      deleteCascade(store, below.name, child);
    }
  }
  store.table(name).remove(row.id);
  store.resource(name).afterDelete?.(row, store);
}
