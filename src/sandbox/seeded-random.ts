/** A seeded random number generator: the same seed gives the same numbers. */

export interface Random {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Returns an integer from `min` to `max`, inclusive. */
  integer(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
}

/** Creates a Mulberry32 generator (32 bits). Good enough for seed data; never use it for secrets. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    next,
    integer: (min, max) => min + Math.floor(next() * (max - min + 1)),
    pick: (items) => itemAt(items, Math.floor(next() * items.length)),
  };
}

/** Returns an item of a list that is repeated endlessly. @throws {Error} if the list is empty. */
export function itemAt<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("Nothing to pick from");
  return item;
}
