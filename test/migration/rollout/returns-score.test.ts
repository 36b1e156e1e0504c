import { describe, expect, test } from "@jest/globals";
import { createCusum, DIFFERENCES } from "../../../src/migration/rollout/returns/cusum.ts";

describe("the score of a route", () => {
  test("rises by 6.2 with each difference, and falls by 0.051 with each equal answer", () => {
    expect(DIFFERENCES.difference).toBeCloseTo(6.2, 1);
    expect(DIFFERENCES.equal).toBeCloseTo(-0.051, 3);
  });

  test.each([0, 0.5, 1])("of failures is defined for an old service that fails at a rate of %d", (rate) => {
    const { difference, equal: step } = createCusum(rate);
    expect([difference > 0, step < 0, Number.isFinite(difference + step)]).toEqual([true, true, true]);
  });
});
