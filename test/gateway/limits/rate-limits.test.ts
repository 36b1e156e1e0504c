import { describe, expect, jest, test } from "@jest/globals";
import { allBut } from "../../support/fake-time.ts";
import { createMemoryLimiter, toStatus, withFallback } from "../../../src/gateway/limits/limiter.ts";
import { addressNetwork, addressNetworks } from "../../../src/base/index.ts";
import {
  createRateLimits,
  type LimitSubject,
  type RateLimits,
} from "../../../src/gateway/limits/rate-limits.ts";

const ADDRESS = "192.0.2.1";

function limitsOf(points: number, creates = points): RateLimits {
  const counters = [points, creates].map((most) => createMemoryLimiter({ points: most, seconds: 100 }));
  return createRateLimits(counters[0]!, counters[1]!);
}

const asking = (request: Partial<LimitSubject>): LimitSubject => ({
  token: "token",
  address: ADDRESS,
  isKnownToken: true,
  isCreate: false,
  ...request,
});

async function allowed(limits: RateLimits, request: Partial<LimitSubject>): Promise<boolean> {
  return (await limits.consume(asking(request))).status.isAllowed;
}

describe("the rate limiter in memory", () => {
  test("L-33 has a bounded number of keys", () => {
    const counter = createMemoryLimiter({ points: 5, seconds: 100 }, 1000);
    for (let key = 0; key < 5000; key += 1) counter.consume(`key ${key}`);
    expect(counter.size).toBe(1000);
  });

  test("keeps the count of a key that is in use while others come and go", () => {
    const counter = createMemoryLimiter({ points: 5, seconds: 100 }, 10);
    for (let round = 0; round < 5; round += 1) {
      expect(counter.consume("mine")).toMatchObject({ isAllowed: true, remaining: 4 - round });
      for (let key = 0; key < 9; key += 1) counter.consume(`key ${round} ${key}`);
    }
    expect(counter.consume("mine")).toMatchObject({ isAllowed: false, remaining: 0 });
  });

  test("never asks a client to wait for longer than the window, however old the process is", () => {
    const counter = createMemoryLimiter({ points: 1, seconds: 60 });
    const clock = jest.spyOn(performance, "now");
    try {
      for (let age = 1.7; age < 1e12; age *= 1.07) {
        clock.mockReturnValue(age);
        expect([age, counter.consume(`key ${age}`).retryAfter]).toEqual([age, 60]);
      }
    } finally {
      clock.mockRestore();
    }
  });

  test("asks a client to wait until the window is over", () => {
    expect(toStatus(1, -1, 59_999.9)).toMatchObject({ retryAfter: 60 });
    expect(toStatus(1, -1, 1000.1)).toMatchObject({ retryAfter: 2 });
    expect(toStatus(1, -1, 0.1)).toMatchObject({ retryAfter: 1 });
  });

  test("applies another limit from one request to the next", () => {
    const counter = createMemoryLimiter({ points: 10, seconds: 100 });
    counter.consume("mine");
    counter.setPoints(2);
    expect(counter.consume("mine")).toMatchObject({ isAllowed: true, limit: 2, remaining: 0 });
    expect(counter.consume("mine")).toMatchObject({ isAllowed: false });
    counter.setPoints(10);
    expect(counter.consume("mine")).toMatchObject({ isAllowed: true, limit: 10 });
  });
});

test("a create that the general limit rejects does not consume the create limit", async () => {
  const limits = limitsOf(1, 5);
  await allowed(limits, {});
  for (let round = 0; round < 9; round += 1)
    expect((await limits.consume(asking({ isCreate: true }))).status).toMatchObject({
      isAllowed: false,
      limit: 1,
    });
  expect(limits.size).toBe(1);
});

describe("unknown tokens", () => {
  test("L-33 share the limit of their address, and have no keys beyond it", async () => {
    const limits = limitsOf(10);
    let passed = 0;
    for (let n = 0; n < 1000; n += 1)
      passed += Number(await allowed(limits, { token: `made up ${n}`, isKnownToken: false }));
    expect(passed).toBe(10);
    expect(limits.size).toBe(11);
  });

  test("a known token does not count against the limit of its address", async () => {
    const limits = limitsOf(10);
    for (let n = 0; n < 20; n += 1)
      await limits.consume(asking({ token: `made up ${n}`, isKnownToken: false }));
    expect(await allowed(limits, { token: "another made up", isKnownToken: false })).toBe(false);
    expect(await allowed(limits, { token: "good" })).toBe(true);
    expect(
      await allowed(limits, { token: "made up at home", isKnownToken: false, address: "192.0.2.2" }),
    ).toBe(true);
  });

  test("any number of clients behind one address can become known one by one", async () => {
    const limits = limitsOf(10);
    for (let n = 0; n < 100; n += 1) {
      const { status: rateLimit, creditAddress } = await limits.consume(
        asking({ token: `client ${n}`, isKnownToken: false }),
      );
      expect(rateLimit).toMatchObject({ isAllowed: true, remaining: 9 });
      await creditAddress?.();
    }
  });

  test("a token counts against its own limit while it becomes known", async () => {
    const limits = limitsOf(2);
    for (const expected of [true, true, false]) {
      const { status: rateLimit, creditAddress } = await limits.consume(asking({ isKnownToken: false }));
      expect(rateLimit.isAllowed).toBe(expected);
      await creditAddress?.();
    }
  });
});

describe("a refund to an address", () => {
  /** Requests that remain after one in a window of 10 seconds, and a refund of it after this time. */
  async function remainingAfter(ms: number, now = 1_800_000_000_000): Promise<number> {
    jest.useFakeTimers({ doNotFake: allBut("Date", "performance"), now });
    try {
      const limiter = createMemoryLimiter({ points: 5, seconds: 10 });
      const limits = createRateLimits(limiter, limiter);
      const { creditAddress } = await limits.consumeAddress(ADDRESS);
      jest.advanceTimersByTime(ms);
      // In the next window another request has been counted.
      const isNext = ms >= 10_000;
      if (isNext) await limits.consumeAddress(ADDRESS);
      await creditAddress?.();
      return (await limits.consumeAddress(ADDRESS)).status.remaining;
    } finally {
      jest.useRealTimers();
    }
  }

  test("counts in the same window only", async () => {
    for (let ms = 0; ms < 19_000; ms += 250)
      expect([ms, await remainingAfter(ms)]).toEqual([ms, ms < 10_000 ? 4 : 3]);
  });

  test("counts in the same window only, wherever in a second that began", async () => {
    for (const fraction of [1, 400, 999])
      for (const ms of [9999, 10_000, 10_001, 10_500, 10_999])
        expect([fraction, ms, await remainingAfter(ms, 1_800_000_000_000 + fraction)]).toEqual([
          fraction,
          ms,
          ms < 10_000 ? 4 : 3,
        ]);
  });

  test("does not depend on the system clock, which may be set", async () => {
    jest.useFakeTimers({ doNotFake: allBut("Date", "performance"), now: 1_800_000_000_000 });
    try {
      const limiter = createMemoryLimiter({ points: 5, seconds: 10 });
      const limits = createRateLimits(limiter, limiter);
      const { creditAddress } = await limits.consumeAddress(ADDRESS);
      jest.setSystemTime(1_800_010_000_000);
      await creditAddress?.();
      expect((await limits.consumeAddress(ADDRESS)).status.remaining).toBe(4);
    } finally {
      jest.useRealTimers();
    }
  });
});

test("the limit is this process's share while the shared limiter fails", async () => {
  const failing = {
    consume: () => Promise.reject(new Error("down")),
    refund: () => Promise.reject(new Error("down")),
    size: 0,
  };
  const local = createMemoryLimiter({ points: 100, seconds: 100 });
  const limiter = withFallback(failing, { local, localPoints: () => 2 });
  expect(await limiter.consume("mine")).toMatchObject({ isAllowed: true, limit: 2, remaining: 1 });
  await limiter.refund("mine");
  for (const isAllowed of [true, true, false])
    expect(await limiter.consume("mine")).toMatchObject({ isAllowed, limit: 2 });
});

test.each([
  ["2001:db8:1:23ff::9", ["2001:db8:1:23ff::/64", "2001:db8:1:2300::/56", "2001:db8:1::/48"]],
  ["192.0.2.1", ["192.0.2.1"]],
])("the client address %s is in the networks %j", (address, networks) => {
  expect(addressNetworks(address)).toEqual(networks);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
  ["2001:DB8:1:2::9", "2001:db8:1::/48"],
  ["2001:0db8:0001:0002::", "2001:db8:1::/48"],
  ["2001:db8::1", "2001:db8:0::/48"],
  ["::1", "0:0:0::/48"],
  ["fe80::1%eth0", "fe80:0:0::/48"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0::/48"],
  ["", ""],
])("the client address %s is counted as %s", (address, counted) => {
  expect(addressNetwork(address)).toBe(counted);
});
