/** Work that can be interrupted between its steps, so that requests are served in the meantime. */
import { setImmediate as nextTurn } from "node:timers/promises";

/** Work that yields between its steps. */
export type Steps<T> = Generator<undefined, T>;

/** The result of a function that works in steps. */
export type StepsResult<F extends (...given: never[]) => Steps<unknown>> =
  ReturnType<F> extends Steps<infer T> ? T : never;

/** Runs all steps without interruption. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Time in milliseconds that steps run before the event loop continues. */
const SLICE_MS = 10;

/** Runs steps in slices, with a turn of the event loop between them. */
export async function runInSlices<T>(steps: Steps<T>): Promise<T> {
  let end = performance.now() + SLICE_MS;
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + SLICE_MS;
  }
}
