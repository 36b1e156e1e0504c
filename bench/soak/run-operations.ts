import { setTimeout as wait } from "node:timers/promises";
import type { Operation } from "./clients.ts";

/** Things that went wrong: how many, and the first few in words. */
export interface Failures {
  readonly count: number;
  readonly first: readonly string[];
}

export interface Tally {
  /** How often each kind of operation succeeded. */
  readonly done: ReadonlyMap<string, number>;
  readonly failures: Failures;
  /** Counts one more. */
  fail(what: string, error: unknown): void;
  /** Milliseconds that clients waited, of all that was done since this was last asked. */
  takeTimes(): number[];
}

interface OpenTally extends Tally {
  succeed(operation: Operation, ms: number): void;
}

const MAX_REPORTED = 5;

/** With more requests in flight the gateway doesn't keep up. */
const MAX_IN_FLIGHT = 2000;

export function openTally(operations: readonly Operation[]): OpenTally {
  const done = new Map(operations.map(({ name }) => [name, 0]));
  const failures = { count: 0, first: [] as string[] };
  let times: number[] = [];
  return {
    done,
    failures,
    fail(what, error) {
      failures.count += 1;
      if (failures.first.length < MAX_REPORTED) failures.first.push(`${what}: ${(error as Error).message}`);
    },
    succeed({ name, timed }, ms) {
      done.set(name, (done.get(name) ?? 0) + 1);
      if (timed) times.push(ms);
    },
    takeTimes() {
      const taken = times;
      times = [];
      return taken;
    },
  };
}

/** A hundred operations in which each kind has its share, spread as evenly as possible. */
const spreadOperations = (operations: readonly Operation[]): Operation[] =>
  operations
    .flatMap((operation) =>
      Array.from({ length: operation.share }, (_, n) => ({ operation, at: (n + 0.5) / operation.share })),
    )
    .toSorted((one, other) => one.at - other.at)
    .map(({ operation }) => operation);

/**
 * Starts `rate` operations a second, whether or not earlier ones have ended; resolves when all have ended. The time
 * of each counts from when it was due.
 */
export async function runOperations(
  operations: readonly Operation[],
  tally: OpenTally,
  { ms, rate }: { readonly ms: number; readonly rate: number },
): Promise<void> {
  const schedule = spreadOperations(operations);
  const turnOfKind = new Map<Operation, number>();
  const inFlight = new Set<Promise<void>>();
  const begun = performance.now();

  async function one(operation: Operation, due: number): Promise<void> {
    const turn = turnOfKind.get(operation) ?? 0;
    turnOfKind.set(operation, turn + 1);
    try {
      await operation.once(turn);
      tally.succeed(operation, performance.now() - due);
    } catch (error) {
      tally.fail(operation.name, error);
    }
  }

  for (let count = 0; (count * 1000) / rate < ms; count += 1) {
    const due = begun + (count * 1000) / rate;
    const early = due - performance.now();
    if (early > 0) await wait(early);
    const operation = schedule[count % schedule.length];
    if (!operation) break;
    if (inFlight.size >= MAX_IN_FLIGHT) {
      tally.fail(operation.name, new Error(`${MAX_IN_FLIGHT} requests are in flight`));
      continue;
    }
    const doing = one(operation, due).finally(() => inFlight.delete(doing));
    inFlight.add(doing);
  }
  await Promise.all(inFlight);
}
