import type { Limiter } from "./limiter.ts";
import type { MemoryLimiter } from "./memory-limiter.ts";

export interface FallbackOptions {
  /** Counts where the shared counter can't be reached. */
  readonly own: MemoryLimiter;
  /** How many requests this process may let through by itself. */
  readonly share: () => number;
}

/** A counter that is shared and, while it can't be reached, this process's share of it: never an error or a refusal. */
export const withFallback = (shared: Limiter, { own, share }: FallbackOptions): Limiter => ({
  consume: (key) =>
    shared.consume(key).catch(() => {
      own.allow(share());
      return own.consume(key);
    }),
  refund: (key) => shared.refund(key).catch(() => own.refund(key)),
  get size() {
    return own.size;
  },
});
