/** The statistic of comparisons that decides whether a route must return to the old service. */

/** A CUSUM: a score that rises with each difference and falls with each equal answer, but not below 0. */
export interface Cusum {
  /** The addend of a difference. */
  readonly difference: number;
  /** The addend of an equal answer: a negative number. */
  readonly equal: number;
}

/** The score at which a route returns to the old service. At the tolerated rate, at most one in 10⁹ comparisons reaches it. */
export const TRIP = 20.7;

/** The rate that is not tolerated, unless five times the tolerated rate is higher. */
const INTOLERABLE = 0.05;
/** The lowest rate that can be tolerated. The fact that an old service has never failed does not prove that it never will. */
const LEAST_TOLERATED = 0.0001;
const MOST_INTOLERABLE = 0.95;

/**
 * Creates the steps of a counter with a given tolerated rate.
 *
 * @param tolerated For failures: the old service's own rate. Rates below 0.01 % are treated as 0.01 %, and rates above
 *   50 % as 50 %
 */
export function createCusum(tolerated = LEAST_TOLERATED): Cusum {
  const rate = Math.min(0.5, Math.max(LEAST_TOLERATED, tolerated));
  const intolerable = Math.min(MOST_INTOLERABLE, Math.max(INTOLERABLE, rate * 5));
  return {
    difference: Math.log(intolerable / rate),
    equal: Math.log((1 - intolerable) / (1 - rate)),
  };
}

/** The counter of confirmed differences: tolerated 0.01 %, intolerable 5 %. */
export const DIFFERENCES: Cusum = createCusum();

/** Whether a score causes a return. */
export const isTripped = (score: number): boolean => score >= TRIP;
