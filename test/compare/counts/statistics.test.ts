import { describe, expect, test } from "@jest/globals";
import { required, upperBound } from "../../../src/compare/counts/statistics.ts";

/** Fractions of a power of two, exact: a rate is `numerator / 2 ** BITS`. */
const BITS = 60n;
const ONE = 1n << BITS;

/** The number of ways to choose `k` of `n`. */
function choose(n: bigint, k: bigint): bigint {
  let ways = 1n;
  for (let j = 1n; j <= k; j += 1n) ways = (ways * (n - k + j)) / j;
  return ways;
}

/** Whether the probability of at most `k` of `n` at a rate is above 5 %, without rounding. */
function isLikely(k: number, n: number, rate: bigint): boolean {
  let sum = 0n;
  for (let i = 0n; i <= BigInt(k); i += 1n)
    sum += choose(BigInt(n), i) * rate ** i * (ONE - rate) ** (BigInt(n) - i);
  return sum * 20n > ONE ** BigInt(n);
}

/** The upper bound by bisection of the exact sum. */
function exactBound(k: number, n: number): number {
  let [low, high] = [0n, ONE];
  while (high - low > 1n << 20n) {
    const middle = (low + high) / 2n;
    if (isLikely(k, n, middle)) low = middle;
    else high = middle;
  }
  return Number(low) / Number(ONE);
}

describe("the upper bound of the rate of differing answers", () => {
  test.each([
    [0, 1],
    [0, 10],
    [0, 299],
    [1, 2],
    [1, 473],
    [2, 628],
    [3, 7],
    [3, 773],
    [9, 10],
    [20, 60],
    [55, 60],
    [17, 1240],
    [40, 1240],
  ])("for %i of %i equals the exact one to 1e-9", (k, n) => {
    expect(Math.abs(upperBound(k, n) - exactBound(k, n))).toBeLessThan(1e-9);
  });

  test("is 1 where nothing was compared, or where all answers differ", () => {
    expect([upperBound(0, 0), upperBound(5, 5)]).toEqual([1, 1]);
  });

  test("of a million comparisons is finite, and above the observed rate", () => {
    expect(upperBound(0, 1_000_000)).toBeCloseTo(2.9957e-6, 9);
    expect(upperBound(1000, 1_000_000)).toBeCloseTo(0.001054, 5);
    expect(upperBound(500_000, 1_000_000)).toBeGreaterThan(0.5);
  });
});

describe("the number of comparisons that is enough", () => {
  test.each([
    [0.01, [299, 473, 628, 773]],
    [0.005, [598, 947, 1258, 1549]],
    [0.001, [2995, 4742, 6294, 7752]],
  ])("for a rate of %d and 0 to 3 differences is that of the table", (rate, table) => {
    expect([0, 1, 2, 3].map((k) => required(rate, k))).toEqual(table);
  });

  test.each([0, 1, -1, Number.NaN])("rejects a rate of %d", (rate) => {
    expect(() => required(rate)).toThrow(RangeError);
  });
});
