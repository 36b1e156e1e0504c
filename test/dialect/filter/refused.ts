import { expect } from "vitest";
import { Refusal } from "../../../src/dialect/refusal.ts";

/** Runs what must end in a 400 without `field`, and gives its reason. */
export function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.status).toBe(400);
    expect(error.faults).toEqual([{ reason: expect.any(String) }]);
    return error.message;
  }
  throw new Error("nothing was refused");
}
