/** The seconds that name servers are told: only these; anything else is moved to one of them (v4, Domains and records). */

const steps = [
  0, 300, 3600, 7200, 14_400, 28_800, 57_600, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200,
];
const most = 2_419_200;

/** Of a domain: the next one up. */
export function roundUp(seconds: number): number {
  return steps.find((step) => step >= seconds) ?? most;
}

/** Of a record: the nearest one, and the longer of two that are as near. */
export function roundToNearest(seconds: number): number {
  return steps.reduce(
    (best, step) => (Math.abs(step - seconds) <= Math.abs(best - seconds) ? step : best),
    0,
  );
}
