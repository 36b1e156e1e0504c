/** Part 7: how often a route is turned back for nothing. */
import { DIFFERENCES, isTripped, TRIP } from "../../src/migration/rollout/returns/cusum.ts";
import { createRandom } from "./noise.ts";

/** The score after one more comparison, without the time that a rollout takes into account. */
export const nextScore = (score: number, isDifferent: boolean): number =>
  Math.min(TRIP, Math.max(0, score + (isDifferent ? DIFFERENCES.difference : DIFFERENCES.equal)));

/**
 * Simulates routes whose answers differ at a rate.
 *
 * @param comparisons of all routes together
 * @param rate Default: the tolerated one.
 * @returns the number of trips
 */
export function simulateTrips(routes: number, comparisons: number, rate = 0.0001): number {
  const random = createRandom(1);
  const each = Math.floor(comparisons / routes);
  let trips = 0;
  for (let route = 0; route < routes; route += 1) {
    let score = 0;
    for (let count = 0; count < each; count += 1) {
      score = nextScore(score, random() < rate);
      if (isTripped(score)) {
        trips += 1;
        score = 0;
      }
    }
  }
  return trips;
}
