import { expect } from "@jest/globals";
import { HttpError } from "../../../src/pack/errors/http-error.ts";

/** Runs a function that must throw a 400 without `field`, and returns its reason. */
export function reasonOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    expect(error.status).toBe(400);
    expect(error.details).toEqual([
      { reason: expect.any(String), rule: expect.stringMatching(/^(filter|sort)$/) },
    ]);
    return error.message;
  }
  throw new Error("nothing was refused");
}
