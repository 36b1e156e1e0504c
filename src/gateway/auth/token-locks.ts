/** Lets one request at a time use a token that v4 has not accepted yet: an invalid one costs v4 one call (L-21). */
export interface TokenLocks {
  /** Acquires the lock of a token. @returns What releases it, or a promise of its release if another request has it. */
  acquire(hash: string): (() => void) | Promise<void>;
}

/** Creates the locks of one process. There are never more of them than requests in flight. */
export function createTokenLocks(): TokenLocks {
  const locks = new Map<string, Promise<void>>();
  return {
    acquire(hash) {
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
