import { describe, expect, test } from "@jest/globals";
import { createCusum, DIFFERENCES } from "../../../src/migration/rollout/returns/cusum.ts";
import { createScores } from "../../../src/migration/rollout/returns/scores.ts";

describe("the score of a route", () => {
  test("rises by 6.2 with each difference, and falls by 0.051 with each equal answer", () => {
    expect(DIFFERENCES.difference).toBeCloseTo(6.2, 1);
    expect(DIFFERENCES.equal).toBeCloseTo(-0.051, 3);
  });

  test.each([0, 0.5, 1])("of failures is defined for an old service that fails at a rate of %d", (rate) => {
    const { difference, equal: step } = createCusum(rate);
    expect([difference > 0, step < 0, Number.isFinite(difference + step)]).toEqual([true, true, true]);
  });

  test("names the last ten requests of all clients, newest last", () => {
    const scores = createScores(
      () => ({}),
      () => ({ differences: 20, within: 100 }),
      () => 1000,
    );
    const note = (requestId: string, client: string): void =>
      scores.note("GET /books", {
        cause: "differences",
        client,
        isBad: true,
        requestId,
        tolerated: undefined,
      });
    for (let n = 1; n <= 7; n += 1) {
      note(`a${n}`, "name:a");
      note(`b${n}`, "name:b");
    }
    expect(scores.of("GET /books").records.join()).toBe("a3,b3,a4,b4,a5,b5,a6,b6,a7,b7");
  });
});
