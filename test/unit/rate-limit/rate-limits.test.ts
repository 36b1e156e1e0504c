import { describe, expect, test } from "vitest";
import { createMemoryLimiter } from "../../../src/rate-limit/memory-limiter.ts";
import { addressNetwork } from "../../../src/rate-limit/client-address.ts";
import { createRateLimits, type LimitSubject, type RateLimits } from "../../../src/rate-limit/rate-limits.ts";

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

describe("a counter in memory", () => {
  test("L33 keys are bounded in number", async () => {
    const counter = createMemoryLimiter({ points: 5, seconds: 100 }, 1000);
    for (let key = 0; key < 5000; key += 1) await counter.consume(`key ${key}`);
    expect(counter.size).toBe(1000);
  });

  test("a key that is still counted keeps its count, also while others come and go", async () => {
    const counter = createMemoryLimiter({ points: 5, seconds: 100 }, 10);
    for (let round = 0; round < 5; round += 1) {
      expect(await counter.consume("mine")).toMatchObject({ isAllowed: true, remaining: 4 - round });
      for (let key = 0; key < 9; key += 1) await counter.consume(`key ${round} ${key}`);
    }
    expect(await counter.consume("mine")).toMatchObject({ isAllowed: false, remaining: 0 });
  });

  test("gives back what was counted, and nothing that was not", async () => {
    const counter = createMemoryLimiter({ points: 1, seconds: 100 });
    await counter.refund("mine");
    expect(await counter.consume("mine")).toMatchObject({ isAllowed: true });
    await counter.refund("mine");
    expect(await counter.consume("mine")).toMatchObject({ isAllowed: true });
    expect(await counter.consume("mine")).toMatchObject({ isAllowed: false });
  });

  test("allows less, or more, from one request to the next", async () => {
    const counter = createMemoryLimiter({ points: 10, seconds: 100 });
    await counter.consume("mine");
    counter.setPoints(2);
    expect(await counter.consume("mine")).toMatchObject({ isAllowed: true, limit: 2, remaining: 0 });
    expect(await counter.consume("mine")).toMatchObject({ isAllowed: false });
    counter.setPoints(10);
    expect(await counter.consume("mine")).toMatchObject({ isAllowed: true, limit: 10 });
  });
});

test("a create that the general limit refuses does not use up the limit of creates", async () => {
  const limits = limitsOf(1, 5);
  await allowed(limits, {});
  for (let round = 0; round < 9; round += 1)
    expect((await limits.consume(asking({ isCreate: true }))).status).toMatchObject({
      isAllowed: false,
      limit: 1,
    });
  expect(limits.size).toBe(1);
});

describe("tokens that nobody knows", () => {
  test("L33 made-up tokens share the limit of their address, and leave no keys beyond it", async () => {
    const limits = limitsOf(10);
    let passed = 0;
    for (let n = 0; n < 1000; n += 1)
      passed += Number(await allowed(limits, { token: `made up ${n}`, isKnownToken: false }));
    expect(passed).toBe(10);
    expect(limits.size).toBe(11);
  });

  test("a known token is not held to the limit of its address", async () => {
    const limits = limitsOf(10);
    for (let n = 0; n < 20; n += 1)
      await limits.consume(asking({ token: `made up ${n}`, isKnownToken: false }));
    expect(await allowed(limits, { token: "another made up", isKnownToken: false })).toBe(false);
    expect(await allowed(limits, { token: "good" })).toBe(true);
    expect(
      await allowed(limits, { token: "made up at home", isKnownToken: false, address: "192.0.2.2" }),
    ).toBe(true);
  });

  test("any number of clients behind one address may become known, one after the other", async () => {
    const limits = limitsOf(10);
    for (let n = 0; n < 100; n += 1) {
      const { status: standing, creditAddress: vouch } = await limits.consume(
        asking({ token: `client ${n}`, isKnownToken: false }),
      );
      expect(standing).toMatchObject({ isAllowed: true, remaining: 9 });
      await vouch?.();
    }
  });

  test("a token is held to its own limit while it becomes known", async () => {
    const limits = limitsOf(2);
    for (const expected of [true, true, false]) {
      const { status: standing, creditAddress: vouch } = await limits.consume(
        asking({ isKnownToken: false }),
      );
      expect(standing.isAllowed).toBe(expected);
      await vouch?.();
    }
  });
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:DB8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:0db8:0001:0002::", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
  ["", ""],
])("the client address %s is counted as %s", (address, counted) => {
  expect(addressNetwork(address)).toBe(counted);
});
