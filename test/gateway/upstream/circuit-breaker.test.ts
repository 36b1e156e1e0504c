/** The circuit breaker: when it leaves v4 alone, and how it finds out that it is back. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import {
  createCircuitBreaker,
  type CircuitBreaker,
  type CircuitState,
  type AttemptOutcome,
} from "../../../src/gateway/upstream/circuit-breaker.ts";

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

describe("the clients of most failures", () => {
  const by = (client: string | undefined, count: number, outcome: AttemptOutcome = "failed"): void => {
    for (let n = 0; n < count; n += 1) breaker.record(outcome, client);
  };
  const isOpenFor = (...clients: readonly (string | undefined)[]): boolean[] =>
    clients.map((client) => breaker.isOpenFor(client));

  test("are the only ones that it opens for, if they are four at most", () => {
    for (const client of ["a", "b", "c", "d"]) by(client, 2);
    by("e", 1);
    by(undefined, 1);
    expect(isOpenFor("a", "b", "c", "d", "e", undefined)).toEqual([true, true, true, true, false, false]);
    expect([breaker.allow("a"), breaker.allow("e"), breaker.allow()]).toEqual([false, true, true]);
    expect(reported).toEqual(["open"]);
  });

  test("are everybody, if they are more", () => {
    for (const client of "abcdefghij") by(client, 1);
    expect(isOpenFor("a", "j", "z", undefined)).toEqual([true, true, true, true]);
  });

  test("are everybody, if no client can have caused the failures", () => {
    by(undefined, 6);
    by("a", 4);
    expect(isOpenFor("a", "b", undefined)).toEqual([true, true, true]);
  });

  test("are more, once as many calls of others have failed", () => {
    by("a", 10);
    by("b", 9);
    expect(isOpenFor("a", "b")).toEqual([true, false]);
    by("b", 1);
    expect(isOpenFor("a", "b", "c")).toEqual([true, true, false]);
    for (const client of ["c", "d", "e", "f"]) by(client, 3);
    expect(isOpenFor("a", "b", "z")).toEqual([true, true, true]);
  });

  test("get through again with the first success, of whomever", () => {
    by("a", 10);
    by("b", 1, "succeeded");
    expect(isOpenFor("a")).toEqual([false]);
    expect(reported).toEqual(["open", "closed"]);
  });

  test("are probed with, and not by calls of others", () => {
    by("a", 10);
    now += 1000;
    expect([breaker.allow("b"), breaker.allow("a"), breaker.allow("a")]).toEqual([true, true, false]);
    by("a", 1);
    expect(isOpenFor("a", "b")).toEqual([true, false]);
  });
});
