import type { Counter } from "./counter.ts";
import type { MemoryCounter } from "./memory-counter.ts";

export interface Insurance {
  /** Counts where the shared counter can't be reached. */
  readonly own: MemoryCounter;
  /** How many requests this process may let through by itself. */
  readonly share: () => number;
}

/** A counter that is shared and, while it can't be reached, this process's share of it: never an error or a refusal. */
export const insured = (shared: Counter, { own, share }: Insurance): Counter => ({
  take: (key) =>
    shared.take(key).catch(() => {
      own.allow(share());
      return own.take(key);
    }),
  giveBack: (key) => shared.giveBack(key).catch(() => own.giveBack(key)),
  get size() {
    return own.size;
  },
});
