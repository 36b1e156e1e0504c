/** The circuit breaker: when it leaves v4 alone, and how it finds out that it is back. */
import { beforeEach, describe, expect, test } from "vitest";
import {
  createCircuitBreaker,
  type CircuitBreaker,
  type CircuitState,
  type AttemptOutcome,
} from "../../../src/upstream/circuit-breaker.ts";

let now = 0;
let told: CircuitState[];
let breaker: CircuitBreaker;
beforeEach(() => {
  now = 1_000_000;
  told = [];
  breaker = createCircuitBreaker({
    minAttempts: 10,
    openMs: 1000,
    clock: () => now,
    onChange: (state) => told.push(state),
  });
});

function tries(count: number, outcome: AttemptOutcome): void {
  for (let n = 0; n < count; n += 1) {
    expect(breaker.allow()).toBe(true);
    breaker.record(outcome);
  }
}

describe("it opens", () => {
  test("when more than half of enough tries failed, and not with fewer", () => {
    tries(9, "failed");
    expect(breaker.state()).toBe("closed");
    tries(1, "failed");
    expect(breaker.state()).toBe("open");
    expect(breaker.allow()).toBe(false);
    expect(told).toEqual(["open"]);
  });

  test("not when half of them did", () => {
    tries(20, "succeeded");
    tries(20, "failed");
    expect(breaker.state()).toBe("closed");
    tries(1, "failed");
    expect(breaker.state()).toBe("open");
  });

  test("not for failures of long ago, however slowly they came", () => {
    for (let n = 0; n < 30; n += 1) {
      tries(1, "failed");
      now += 1500;
    }
    expect(breaker.state()).toBe("closed");
    now += 11_000;
    tries(9, "failed");
    now += 11_000;
    tries(9, "failed");
    expect(breaker.state()).toBe("closed");
  });

  test("not for what tells nothing of v4", () => {
    tries(100, "ignored");
    expect(breaker.state()).toBe("closed");
  });
});

describe("after the pause", () => {
  beforeEach(() => {
    tries(10, "failed");
    now += 1000;
  });

  test("v4 is asked again, and not before", () => {
    now -= 1;
    expect(breaker.allow()).toBe(false);
    now += 1;
    expect(breaker.state()).toBe("half-open");
    expect(breaker.allow()).toBe(true);
  });

  test("one call is let through, and the others wait for none", () => {
    expect(breaker.allow()).toBe(true);
    expect(breaker.state()).toBe("open");
    expect(breaker.allow()).toBe(false);
    now += 60_000;
    expect(breaker.allow()).toBe(false);
  });

  test("its answer closes it, and what was before counts no more", () => {
    breaker.allow();
    breaker.record("succeeded");
    expect(breaker.state()).toBe("closed");
    expect(told).toEqual(["open", "closed"]);
    tries(9, "failed");
    expect(breaker.state()).toBe("closed");
  });

  test("its failure opens it for another pause", () => {
    breaker.allow();
    breaker.record("failed");
    expect(breaker.allow()).toBe(false);
    now += 1000;
    expect(breaker.allow()).toBe(true);
    expect(told).toEqual(["open"]);
  });

  test("a client that goes away lets the next one try", () => {
    breaker.allow();
    breaker.record("ignored");
    expect(breaker.allow()).toBe(true);
  });

  test("failures of calls from before don't make the pause longer", () => {
    breaker.record("failed");
    expect(breaker.allow()).toBe(true);
  });
});
