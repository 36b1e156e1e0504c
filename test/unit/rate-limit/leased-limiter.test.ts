import { describe, expect, test } from "vitest";
import { createLimitLeases } from "../../../src/app/cluster/limit-leases.ts";
import { createLeasedLimiter, type LeasedLimiter } from "../../../src/rate-limit/leased-limiter.ts";
import { createMemoryLimiter } from "../../../src/rate-limit/limiter.ts";

interface Cluster {
  readonly workers: readonly LeasedLimiter[];
  /** Requests to the primary. */
  readonly messages: () => number;
}

/** Workers whose limits are in one primary. */
function createCluster(points: number, size = 2, seconds = 900): Cluster {
  const limiters = {
    all: createMemoryLimiter({ points, seconds }),
    create: createMemoryLimiter({ points, seconds }),
  };
  let messages = 0;
  const leases = createLimitLeases({
    limiters,
    workers: size,
    endLeases: async (_name, key) => {
      const counts = await Promise.all(workers.map((worker) => worker.endLease(key)));
      return counts.reduce((sum, count) => sum + count, 0);
    },
  });
  const workers = Array.from({ length: size }, () =>
    createLeasedLimiter({
      lease(key, wantsMore) {
        messages += 1;
        return leases.lease("all", key, wantsMore);
      },
      refund: (key, count) => limiters.all.refund(key, count),
    }),
  );
  return { workers, messages: () => messages };
}

/** Makes requests in the workers of a list, in turn. @returns how many were allowed */
async function countAllowed(workers: readonly LeasedLimiter[], requests: number): Promise<number> {
  let allowed = 0;
  for (let request = 0; request < requests; request += 1) {
    const status = await workers[request % workers.length]?.consume("key");
    if (status?.isAllowed) allowed += 1;
  }
  return allowed;
}

describe("leases of a rate limit", () => {
  test.each([1, 2, 31, 100, 1600, 1601])("allow exactly %i requests over all workers", async (points) => {
    const { workers } = createCluster(points);
    expect(await countAllowed(workers, points + 50)).toBe(points);
  });

  test("allow exactly the limit if requests come to all workers at the same time", async () => {
    const { workers } = createCluster(1000, 4);
    const counts = await Promise.all(
      workers.flatMap((worker) => Array.from({ length: 300 }, () => countAllowed([worker], 1))),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1000);
  });

  test("of one worker can be used by another", async () => {
    const { workers } = createCluster(1600);
    const [first, second] = workers as [LeasedLimiter, LeasedLimiter];
    expect(await countAllowed([first], 1)).toBe(1);
    expect(await countAllowed([second], 1700)).toBe(1599);
  });

  test("need few messages while many requests remain", async () => {
    const { workers, messages } = createCluster(1600);
    await countAllowed(workers, 800);
    expect(messages()).toBeLessThan(40);
  });

  test("count down to the limit in one worker", async () => {
    const { workers } = createCluster(100);
    const remaining: (number | undefined)[] = [];
    for (let request = 0; request < 100; request += 1)
      remaining.push((await workers[0]?.consume("key"))?.remaining);
    expect(remaining).toEqual(Array.from({ length: 100 }, (_, request) => 99 - request));
  });

  test("get refunded requests back", async () => {
    const { workers } = createCluster(200);
    expect(await countAllowed(workers, 200)).toBe(200);
    await workers[0]?.refund("key");
    expect(await countAllowed(workers, 10)).toBe(1);
  });

  test("end with their window", async () => {
    const { workers } = createCluster(200, 2, 1);
    expect(await countAllowed(workers, 10)).toBe(10);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    expect(await Promise.all(workers.map((worker) => worker.endLease("key")))).toEqual([0, 0]);
    expect(await countAllowed(workers, 250)).toBe(200);
  });
});
