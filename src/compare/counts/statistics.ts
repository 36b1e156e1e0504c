/** The statistic of comparisons that decides whether clients may get the translation. */

/** The tolerated share of wrong conclusions: the bounds hold at 95 %. */
const ALPHA = 0.05;

/** Smaller terms don't change a sum. */
const NEGLIGIBLE = 1e-18;

/** Returns the logarithm of the number of ways to choose `k` of `n`. */
function logChoose(n: number, k: number): number {
  let sum = 0;
  for (let j = 1; j <= k; j += 1) sum += Math.log((n - k + j) / j);
  return sum;
}

/**
 * Returns the probability of at most `k` of `n`, for rates above `k / n`. @param logWays the logarithm of the number of
 * ways to choose `k` of `n`
 */
function atMost(k: number, n: number, rate: number, logWays: number): number {
  let term = Math.exp(logWays + k * Math.log(rate) + (n - k) * Math.log1p(-rate));
  let sum = term;
  // Above k / n, the terms decrease with i.
  for (let i = k; i > 0 && term > sum * NEGLIGIBLE; i -= 1) {
    term *= (i / (n - i + 1)) * ((1 - rate) / rate);
    sum += term;
  }
  return sum;
}

/**
 * Returns the exact (Clopper–Pearson) one-sided upper bound at 95 % of the rate of differing responses.
 *
 * @param differing Number of distinct comparisons that differ, from 0 to `compared`.
 * @param compared Number of distinct comparisons.
 * @returns a rate from 0 to 1. 1 if nothing was compared
 */
export function upperBound(differing: number, compared: number): number {
  if (differing >= compared) return 1;
  const logWays = logChoose(compared, differing);
  let [low, high] = [differing / compared, 1];
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return high;
    if (atMost(differing, compared, middle, logWays) > ALPHA) low = middle;
    else high = middle;
  }
}

/**
 * Returns the number of distinct comparisons that is sufficient to show that the rate of differing responses is below a
 * rate.
 *
 * @param rate Above 0 and below 1: 0.001 for 0.1 %.
 * @param differing Number of them that differ.
 * @throws {RangeError} for an invalid rate
 */
export function required(rate: number, differing = 0): number {
  if (!(rate > 0 && rate < 1)) throw new RangeError(`a rate is above 0 and below 1, not ${rate}`);
  const isEnough = (compared: number): boolean => upperBound(differing, compared) <= rate;
  let [low, high] = [differing, Math.max(2, Math.ceil((differing + 1) / rate))];
  while (!isEnough(high)) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isEnough(middle)) high = middle;
    else low = middle;
  }
  return high;
}
