/** The circuit breaker: when it leaves v4 alone, and how it finds out that it is back. */
import { beforeEach, describe, expect, test } from "@jest/globals";
import { CircuitBreaker, type CircuitState } from "../../../src/gateway/upstream/circuit-breaker.ts";
import type { ShareClient } from "../../../src/gateway/upstream/share-usage.ts";
import type { AttemptOutcome } from "../../../src/gateway/upstream/upstream-error.ts";

let now = 0;
let reported: CircuitState[];
let breaker: CircuitBreaker;
beforeEach(() => {
  now = 1_000_000;
  reported = [];
  breaker = new CircuitBreaker({
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

  test("lets one call through, and rejects the others immediately", () => {
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

  test("closes after a successful call, and ignores earlier failures", () => {
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

describe("the half-open circuit that is open for all", () => {
  /** Calls of clients, each where the circuit allows it. @returns the clients that it has allowed */
  const callBy = (outcome: AttemptOutcome | undefined, ...names: readonly string[]): readonly string[] =>
    names.filter((name) => {
      const isAllowed = breaker.allow(clientOf(name));
      if (isAllowed && outcome !== undefined) breaker.record(outcome, clientOf(name));
      return isAllowed;
    });

  /** A circuit that v4 has opened. */
  function open(areAddressesShared = false): void {
    breaker = new CircuitBreaker({ minAttempts: 10, openMs: 1000, areAddressesShared, clock: () => now });
    tries(10, "failed");
    now += 1000;
  }

  test.each([
    ["fails", "failed"],
    ["never ends", undefined],
  ] as const)("is closed by the success of a client, though the probe of another one %s", (_how, outcome) => {
    open();
    expect(callBy(outcome, "a", "a")).toEqual(["a"]);
    expect(isOpenFor("a", "b")).toEqual([true, false]);
    expect(callBy("succeeded", "b")).toEqual(["b"]);
    expect(breaker.state()).toBe("closed");
  });

  test("makes the client of a failed probe wait, and no other one", () => {
    open();
    expect(callBy(undefined, "a")).toEqual(["a"]);
    now += 900;
    breaker.record("failed", clientOf("a"));
    now += 900;
    expect(callBy("failed", "a", "b")).toEqual(["b"]);
    now += 100;
    expect(callBy("failed", "a", "b")).toEqual(["a"]);
  });

  test("lets five clients probe in a pause: one more than may be the cause of all failures", () => {
    open();
    expect(callBy("failed", "a", "b", "c", "d", "e", "f", "g")).toEqual(["a", "b", "c", "d", "e"]);
    expect(isOpenFor("z", undefined)).toEqual([true, true]);
    expect(breaker.state()).toBe("open");
    now += 1000;
    expect(callBy("failed", "z", "a")).toEqual(["z", "a"]);
  });

  test("lets a network probe once, whatever its tokens", () => {
    open();
    expect(callBy("failed", "a@home", "b@home", "c@home", "d")).toEqual(["a@home", "d"]);
  });

  test("lets accepted tokens probe where clients may share an address, and invented ones once", () => {
    open(true);
    expect(callBy("failed", "a@proxy", "a@proxy", "b@proxy")).toEqual(["a@proxy", "b@proxy"]);
    const strangers = ["x@proxy", "y@proxy"].map((name) => ({ ...clientOf(name), isKnown: false }));
    expect(strangers.map((client) => breaker.allow(client))).toEqual([true, false]);
  });
});

/** A token; its network is its own, or that after the sign. */
function clientOf(name: string): ShareClient {
  const [token = "", network = `network of ${token}`] = name.split("@");
  return { token, networks: [network], isKnown: true };
}

const by = (name: string | undefined, count: number, outcome: AttemptOutcome = "failed"): void => {
  for (let n = 0; n < count; n += 1) breaker.record(outcome, name === undefined ? undefined : clientOf(name));
};
const isOpenFor = (...names: readonly (string | undefined)[]): boolean[] =>
  names.map((name) => breaker.isOpenFor(name === undefined ? undefined : clientOf(name)));

describe("the clients of most failures", () => {
  test("are the only ones that it opens for, if they are four at most", () => {
    for (const client of ["a", "b", "c", "d"]) by(client, 2);
    by("e", 1);
    by(undefined, 1);
    expect(isOpenFor("a", "b", "c", "d", "e", undefined)).toEqual([true, true, true, true, false, false]);
    expect([breaker.allow(clientOf("a")), breaker.allow(clientOf("e")), breaker.allow()]).toEqual([
      false,
      true,
      true,
    ]);
    expect(reported).toEqual(["open"]);
  });

  test("are all clients, if there are more", () => {
    for (const client of "abcdefghij") by(client, 1);
    expect(isOpenFor("a", "j", "z", undefined)).toEqual([true, true, true, true]);
  });

  test("are all clients, if no client can have caused the failures", () => {
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

  test("are the fewest that explain it: who has failures beside them is not among them", () => {
    for (const client of ["b", "c", "d"]) {
      by(client, 2, "succeeded");
      by(client, 1);
    }
    by("a", 10);
    expect(isOpenFor("a", "b", "c", "d")).toEqual([true, false, false, false]);
    by("e", 10);
    expect(isOpenFor("a", "e", "b", "z", undefined)).toEqual([true, true, false, false, false]);
  });

  test("are probed with, and not by calls of others", () => {
    by("a", 10);
    now += 1000;
    expect(["b", "a", "a"].map((name) => breaker.allow(clientOf(name)))).toEqual([true, true, false]);
    by("a", 1);
    expect(isOpenFor("a", "b")).toEqual([true, false]);
  });
});

describe("many tokens of one network", () => {
  /** Each of so many tokens has one failure. */
  const failBy = (tokens: number, network: string, first = 0): void => {
    for (let n = 0; n < tokens; n += 1) by(`t${first + n}@${network}`, 1);
  };

  test("are one customer: the circuit opens for the network alone", () => {
    failBy(20, "home");
    expect(isOpenFor("t0@home", "t99@home", "ann", undefined)).toEqual([true, true, false, false]);
    by("late@home", 10);
    expect(isOpenFor("ann")).toEqual([false]);
  });

  test("are many customers where clients may share an address: the circuit opens for everybody", () => {
    breaker = new CircuitBreaker({ minAttempts: 10, areAddressesShared: true, clock: () => now });
    failBy(10, "proxy");
    expect(isOpenFor("t0@proxy", "ann@proxy", "bob")).toEqual([true, true, true]);
  });

  test("open it for everybody where many networks have them", () => {
    for (let n = 0; n < 10; n += 1) failBy(1, `network ${n}`, n);
    expect(isOpenFor("ann", undefined)).toEqual([true, true]);
  });
});

test("an accepted token of many networks is one customer: the circuit opens for it alone", () => {
  for (let n = 0; n < 20; n += 1) by(`ann@network ${n}`, 1);
  expect(isOpenFor("ann@network 99", "bob@network 1", "bob", undefined)).toEqual([true, false, false, false]);
});
