/** Locks of tokens in one process. */
export type TokenLocks = ReturnType<typeof createTokenLocks>;

/**
 * Creates locks that let one request at a time use a token that v4 has not accepted yet, so that an invalid token costs
 * one v4 call (L-21). The number of locks never exceeds the number of in-flight requests.
 */
export function createTokenLocks() {
  const locks = new Map<string, Promise<void>>();
  return {
    /** Acquires the lock of a token. @returns the release function, or a promise of it if another request holds the lock */
    acquire(hash: string): (() => void) | Promise<void> {
      const held = locks.get(hash);
      if (held) return held;
      const { promise, resolve } = Promise.withResolvers<void>();
      locks.set(hash, promise);
      return function release() {
        if (locks.get(hash) === promise) locks.delete(hash);
        resolve();
      };
    },
  };
}
