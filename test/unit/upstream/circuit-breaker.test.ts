/** The circuit breaker: when it leaves v4 alone, and how it finds out that it is back. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  createCircuitBreaker,
  type CircuitBreaker,
  type CircuitState,
  type AttemptOutcome,
} from "../../../src/upstream/circuit-breaker.ts";

let now = 0;
let reported: CircuitState[];
let breaker: CircuitBreaker;
beforeEach(() => {
  now = 1_000_000;
  reported = [];
  breaker = createCircuitBreaker({
    minAttempts: 10,
    openMs: 1000,
    clock: () => now,
    onChange: (state) => reported.push(state),
  });
});

function tries(count: number, outcome: AttemptOutcome): void {
  for (let n = 0; n < count; n += 1) {
    expect(breaker.allow()).toBe(true);
    breaker.record(outcome);
  }
}

describe("the circuit opens", () => {
  test("if more than half of the minimum number of calls failed", () => {
    tries(9, "failed");
    expect(breaker.state()).toBe("closed");
    tries(1, "failed");
    expect(breaker.state()).toBe("open");
    expect(breaker.allow()).toBe(false);
    expect(reported).toEqual(["open"]);
  });

  test("no earlier than that: with half of the calls failed it stays closed", () => {
    tries(20, "succeeded");
    tries(20, "failed");
    expect(breaker.state()).toBe("closed");
    tries(1, "failed");
    expect(breaker.state()).toBe("open");
  });

  test("not for failures outside of the time window", () => {
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

  test("not for outcomes that say nothing about v4", () => {
    tries(100, "ignored");
    expect(breaker.state()).toBe("closed");
  });
});

describe("the half-open circuit", () => {
  beforeEach(() => {
    tries(10, "failed");
    now += 1000;
  });

  test("lets a call through after the pause, and none before", () => {
    now -= 1;
    expect(breaker.allow()).toBe(false);
    now += 1;
    expect(breaker.state()).toBe("half-open");
    expect(breaker.allow()).toBe(true);
  });

  test("lets one call through, and rejects the others at once", () => {
    expect(breaker.allow()).toBe(true);
    expect(breaker.state()).toBe("open");
    now += 999;
    expect(breaker.allow()).toBe(false);
  });

  test("lets another call through after a pause, where the first has no outcome: a client may hold it", () => {
    expect(breaker.allow()).toBe(true);
    now += 1000;
    expect(breaker.state()).toBe("half-open");
    expect(breaker.allow()).toBe(true);
    expect(breaker.allow()).toBe(false);
    breaker.record("succeeded");
    expect(breaker.state()).toBe("closed");
  });

  test("closes after a successful call, and forgets earlier failures", () => {
    breaker.allow();
    breaker.record("succeeded");
    expect(breaker.state()).toBe("closed");
    expect(reported).toEqual(["open", "closed"]);
    tries(9, "failed");
    expect(breaker.state()).toBe("closed");
  });

  test("opens for another pause after a failed call", () => {
    breaker.allow();
    breaker.record("failed");
    expect(breaker.allow()).toBe(false);
    now += 1000;
    expect(breaker.allow()).toBe(true);
    expect(reported).toEqual(["open"]);
  });

  test("lets the next call through if the client of the first disconnects", () => {
    breaker.allow();
    breaker.record("ignored");
    expect(breaker.allow()).toBe(true);
  });

  test("is not affected by failures of calls that started earlier", () => {
    breaker.record("failed");
    expect(breaker.allow()).toBe(true);
  });
});
