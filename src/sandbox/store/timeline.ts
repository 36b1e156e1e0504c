/**
 * What is going to happen: an instance boots in two seconds, a disk is ready in three.
 *
 * There are no timers. Whoever is about to read the store settles the timeline first, and everything that
 * has fallen due by then happens, in order and at its own time. A stopped clock stops the service. What is
 * planned is plain data, so that it is saved with the rows.
 */

import type { Shapes } from "../resources/shapes.ts";
import type { Id } from "./table.ts";

/** What happens to one row at one time. */
export interface PendingChange {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly table: keyof Shapes;
  readonly id: Id;
  /** The plan it belongs to: when the row has a later one by then, nothing happens. */
  readonly job: number;
  /** Members that the row gets. */
  readonly set?: object;
  /** The row goes, with everything below it. */
  readonly drop?: true;
  /** An event that ends with it. */
  readonly event?: EventOutcome;
  /** Nothing of the row's plan: a time that its resource waits for, whatever happens to the row meanwhile. */
  readonly due?: true;
}

export interface EventOutcome {
  readonly id: Id;
  readonly status: "finished" | "failed";
  readonly message?: string;
}

export interface Timeline {
  schedule(step: PendingChange): void;
  /** Lets everything happen that is due at `now`. */
  runDue(now: number, happen: (step: PendingChange) => void): void;
  /** What is still ahead. */
  readonly pending: readonly PendingChange[];
  restore(steps: readonly PendingChange[]): void;
}

export function createTimeline(): Timeline {
  const ahead: PendingChange[] = [];
  return {
    pending: ahead,
    schedule(step) {
      // Behind everything that is not later.
      let [low, high] = [0, ahead.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if ((ahead[middle]?.at ?? 0) > step.at) high = middle;
        else low = middle + 1;
      }
      ahead.splice(low, 0, step);
    },
    runDue(now, happen) {
      for (let next = ahead[0]; next && next.at <= now; next = ahead[0]) {
        ahead.shift();
        happen(next);
      }
    },
    restore(steps) {
      ahead.splice(0, ahead.length, ...steps);
    },
  };
}
