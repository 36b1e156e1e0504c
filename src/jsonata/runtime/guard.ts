import { Failure } from "./failure.ts";

/**
 * A mapping is an operator's file, so the guards are against mistakes: endless recursion and endless
 * loops. `stack` counts steps of the interpreter, or calls inside each other of a compiled expression;
 * `timeout` is in milliseconds.
 */
export const GUARDS = { stack: 500, timeout: 250 } as const;

/** An evaluation never waits, so there is one at a time. */
const spent = { depth: 0, ticks: 0, started: 0 };

/** Starts the account of an evaluation that calls functions or walks lists. */
export function begin(): void {
  spent.depth = 0;
  spent.ticks = 0;
  spent.started = 0;
}

/** Counts work, and now and then looks at the clock. @throws {Failure} D1012 */
export function tick(work = 1): void {
  spent.ticks += work;
  if (spent.ticks < 1024) return;
  spent.ticks = 0;
  const now = performance.now();
  if (spent.started === 0) spent.started = now;
  else if (now - spent.started > GUARDS.timeout) throw new Failure("D1012");
}

/** @throws {Failure} D1011 */
export function enter(): void {
  spent.depth += 1;
  if (spent.depth > GUARDS.stack) throw new Failure("D1011");
}

export function leave(): void {
  spent.depth -= 1;
}
