import { Failure } from "./failure.ts";

/**
 * Limits of one evaluation. Packs are written by operators, so the limits guard against mistakes: endless recursion and
 * endless loops. `stack` is a number of nested calls (in the interpreter: of nested steps), `timeout` is milliseconds.
 */
export const GUARDS = { stack: 500, timeout: 250 } as const;

/** What the current evaluation has used. Evaluations are synchronous, so there is only one at a time. */
const usage = { depth: 0, ticks: 0, started: 0 };

/** Resets the counters at the start of an evaluation that calls functions or iterates over lists. */
export function resetGuards(): void {
  usage.depth = 0;
  usage.ticks = 0;
  usage.started = 0;
}

/** Counts steps of work, and checks the clock every 1024 steps. @throws {Failure} D1012 After the timeout. */
export function tick(work = 1): void {
  usage.ticks += work;
  if (usage.ticks < 1024) return;
  usage.ticks = 0;
  const now = performance.now();
  if (usage.started === 0) usage.started = now;
  else if (now - usage.started > GUARDS.timeout) throw new Failure("D1012");
}

/** Counts a nested call. @throws {Failure} D1011 If calls are nested too deeply. */
export function enterCall(): void {
  usage.depth += 1;
  if (usage.depth > GUARDS.stack) throw new Failure("D1011");
}

/** Ends a nested call. */
export function leaveCall(): void {
  usage.depth -= 1;
}
