/** Pseudo-random numbers from a seed (mulberry32), so that a run can be repeated. */
export interface Random {
  /** An integer from 0, below `end`. */
  below(end: number): number;
  /** Picks an element. @throws {Error} for an empty list. */
  pick<T>(items: readonly T[]): T;
}

export function random(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    pick(items) {
      if (items.length === 0) throw new Error("there is nothing to pick from");
      return items[below(items.length)] as (typeof items)[number];
    },
  };
}
