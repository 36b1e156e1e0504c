import { expect, test } from "@jest/globals";
import { simulateTrips } from "../../../bench/parity/simulated-routes.ts";

test("10000 routes at the tolerated rate trip once in 10 million comparisons at most", () => {
  expect(simulateTrips(10_000, 10_000_000)).toBeLessThanOrEqual(1);
});

test("each route at the intolerable rate trips within 1000 comparisons", () => {
  expect(simulateTrips(100, 100_000, 0.05)).toBeGreaterThanOrEqual(100);
});
