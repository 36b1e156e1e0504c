/** When other rules began to apply: those of another file, or because something has returned. */
import { isDeepStrictEqual } from "node:util";
import { decideByRules } from "./decide.ts";
import type { RolloutPlan } from "./rules.ts";

/** The last changes of what applies. */
export interface PlanChanges {
  /** Something has returned, or was resumed. */
  note(): void;
  /** The file was read again, and may be another one. */
  fileChanged(): void;
  /** Whether cursors still go where they came from. */
  keepCursors(): boolean;
  /** Whether the file turned a client to the translation within the last hour. */
  isFresh(client: string | undefined, route: string | null): boolean;
}

/** How long a cursor goes where it came from. */
const CURSOR_MS = 600_000;
/** How long all reads of a client are compared that was turned. */
const FRESH_MS = 3_600_000;

/** @param elapsed Milliseconds, monotonic. */
export function watchPlanChanges(plan: () => RolloutPlan, elapsed: () => number): PlanChanges {
  let changedAt = elapsed();
  let newest = plan();
  /** The file before, and when it was replaced; undefined: none was. */
  let replaced: { readonly plan: RolloutPlan; readonly at: number } | undefined;

  return {
    note: () => void (changedAt = elapsed()),
    fileChanged() {
      // A file is also read again because the client directory has changed.
      if (isDeepStrictEqual(plan(), newest)) return;
      changedAt = elapsed();
      replaced = { plan: newest, at: changedAt };
      newest = plan();
    },
    keepCursors: () => elapsed() - changedAt < CURSOR_MS,
    isFresh(client, route) {
      if (!replaced || elapsed() - replaced.at >= FRESH_MS) return false;
      return decideByRules(replaced.plan, client, route).side === "old";
    },
  };
}
