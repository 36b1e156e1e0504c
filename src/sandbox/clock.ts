/** The time source of the sandbox. */

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** A clock that the caller advances. */
export interface ManualClock extends Clock {
  /** Advances the clock by `ms` milliseconds. @throws {Error} for a negative number. */
  advance(ms: number): void;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Creates a clock that follows a given clock and can be advanced beyond it. */
export function movableClock(clock: Clock): ManualClock {
  let ahead = 0;
  return {
    now: () => clock.now() + ahead,
    advance(ms) {
      ahead += forwards(ms);
    },
  };
}

/** Returns `ms` unchanged. @throws {Error} for a negative number or NaN. */
function forwards(ms: number): number {
  if (!(ms >= 0)) throw new Error(`A clock can't be advanced by ${ms} ms`);
  return ms;
}

/** Formats a time as v4 does: UTC without zone and fraction, `2022-05-10T09:00:00`. */
export function dateTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
