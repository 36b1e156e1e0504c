/** One request at a time finds out about a token, so that a refused one costs v4 one call (lesson L21). */
export interface TokenLocks {
  /** Begins a turn, and gives what ends it; a promise of its end where another has it. */
  acquire(hash: string): (() => void) | Promise<void>;
}

/** As many turns are kept as requests are under way. */
export function createTokenLocks(): TokenLocks {
  const turns = new Map<string, Promise<void>>();
  return {
    acquire(hash) {
      const another = turns.get(hash);
      if (another) return another;
      const { promise, resolve } = Promise.withResolvers<void>();
      turns.set(hash, promise);
      return function end() {
        if (turns.get(hash) === promise) turns.delete(hash);
        resolve();
      };
    },
  };
}
