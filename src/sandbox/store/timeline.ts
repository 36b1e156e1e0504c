/**
 * Pending changes: an instance is booted in two seconds, a disk is ready in three.
 *
 * The timeline uses no timers. Each request first applies all changes that are due, in order and with their own time. A
 * stopped clock stops the service. Pending changes are plain data, so that they are saved with the rows.
 */

import type { RowTypes } from "../resources/row-types.ts";
import type { Id } from "./store-table.ts";

/** A scheduled change of one row. */
export interface PendingChange {
  /** Time of the change, in milliseconds since 1970. */
  readonly at: number;
  readonly table: keyof RowTypes;
  readonly id: Id;
  /** The row's `job` at scheduling time. The change is skipped if the row has a newer job by then. */
  readonly job: number;
  /** Members to set on the row. */
  readonly set?: object;
  /** Whether to delete the row and all rows below it. */
  readonly drop?: true;
  /** The event that ends with this change. */
  readonly event?: EventOutcome;
  /** Whether to call the resource's `onDue` instead, even if the row has a newer job. */
  readonly due?: true;
}

export interface EventOutcome {
  readonly id: Id;
  readonly status: "finished" | "failed";
  readonly message?: string;
}

export interface Timeline {
  schedule(step: PendingChange): void;
  /** Applies all changes that are due at `now`. */
  runDue(now: number, apply: (step: PendingChange) => void): void;
  /** All pending changes, ordered by time. */
  readonly pending: readonly PendingChange[];
  restore(steps: readonly PendingChange[]): void;
}

export function createTimeline(): Timeline {
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
