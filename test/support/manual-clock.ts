import { movableClock, type ManualClock } from "../../src/sandbox/clock.ts";

/** Creates a stopped clock at `start` (milliseconds since 1970). */
export const manualClock = (start: number = Date.UTC(2022, 4, 10, 9)): ManualClock =>
  movableClock({ now: () => start });
