/** What the sandbox takes the time from; tests hand in one that stands still until they move it. */

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** A clock that tests drive. */
export interface ManualClock extends Clock {
  /** Moves the clock on by so many milliseconds; it never goes back. */
  advance(ms: number): void;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Runs as another clock does, and can be moved ahead of it. */
export function movableClock(clock: Clock): ManualClock {
  let ahead = 0;
  return {
    now: () => clock.now() + ahead,
    advance(ms) {
      ahead += forwards(ms);
    },
  };
}

/** @throws {Error} for what would stop the clock or turn it back. */
function forwards(ms: number): number {
  if (!(ms >= 0)) throw new Error(`A clock cannot be advanced by ${ms} ms`);
  return ms;
}

/** Starts at `start` (milliseconds since 1970) and stands still until it is advanced. */
export function manualClock(start: number = Date.UTC(2022, 4, 10, 9)): ManualClock {
  let time = start;
  return {
    now: () => time,
    advance(ms) {
      time += forwards(ms);
    },
  };
}

/** The way v4 writes a date-time: UTC, no zone, no fraction, `2022-05-10T09:00:00`. */
export function dateTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}
