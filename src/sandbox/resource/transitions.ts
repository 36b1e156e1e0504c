/** Rows that take their time: a status now, another one later, the last one for good. */

import { dateTime } from "../clock.ts";
import type { Shapes } from "../resources/shapes.ts";
import type { Row } from "../store/table.ts";
import type { Step } from "../store/timeline.ts";
import type { World } from "../store/world.ts";
import { finishEvent } from "./events.ts";
import { deleteCascade } from "./delete-cascade.ts";

export interface TransitionStage {
  readonly status: string;
  /** Seconds until the next stage; of the last one it doesn't count. */
  readonly takes: number;
  /** Other members that the row gets with it. */
  readonly set?: object;
}

/** What comes with the last stage. */
export type TransitionEnd = Pick<Step, "drop" | "event">;

/**
 * Puts a row through its stages. A later call for the same row overtakes an earlier one, whose remaining
 * stages then never come.
 *
 * @param at When the first stage begins, in milliseconds.
 */
export function startTransition(
  world: World,
  table: keyof Shapes,
  row: Row<object>,
  at: number,
  stages: readonly TransitionStage[],
  ending: TransitionEnd = {},
): void {
  row.job += 1;
  let time = at;
  stages.forEach(({ status, takes, set }, index) => {
    const last = index === stages.length - 1;
    const step: Step = {
      at: time,
      table,
      id: row.id,
      job: row.job,
      set: { ...set, status },
      ...(last && ending),
    };
    if (time <= at) happen(world, step);
    else world.timeline.plan(step);
    time += takes * 1000;
  });
}

/** Seconds that the stages take together. */
export function transitionSeconds(stages: readonly TransitionStage[]): number {
  return stages.slice(0, -1).reduce((sum, { takes }) => sum + takes, 0);
}

/** Lets everything happen that has fallen due. */
export function runDueEvents(world: World, now: number): void {
  world.timeline.settle(now, (step) => happen(world, step));
}

function happen(world: World, step: Step): void {
  const { at, table, set, drop, event } = step;
  const row = world.table(table).get(step.id);
  if (step.due) {
    if (row) world.resource(table).due?.(row, world, at);
    return;
  }
  if (!row || row.job !== step.job) {
    if (event) finishEvent(world, { ...event, status: "failed", message: "Overtaken by another action" }, at);
    return;
  }
  const { happened } = world.resource(table);
  const before = happened && structuredClone(row.value);
  Object.assign(row.value, set);
  if (before) happened?.(row, world, before);
  if (set && Object.hasOwn(row.value, "updated")) Object.assign(row.value, { updated: dateTime(at) });
  if (drop) deleteCascade(world, table, row);
  if (event) finishEvent(world, event, at);
}
