import type { Registry } from "@prometheus-io/client";
import { addCounter, addHistogram } from "./instruments.ts";

/** Most stops take microseconds; one that waits, for a store or for another request's turn, takes seconds. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

/**
 * Adds the time that requests spend at each stop of the road: its distribution by stop, and its sum by stop and
 * route. A distribution for each of both would be thousands of figures.
 */
export function addStageMetrics(
  registry: Registry,
  prefix: string,
): (stage: string, route: string, seconds: number) => void {
  const observe = addHistogram(registry, {
    name: `${prefix}stage_seconds`,
    help: "Time at one stop of the road: credentials, limits, admission, out, upstream, back, record.",
    labelNames: ["stage"],
    bounds: BUCKETS,
  });
  const count = addCounter(registry, {
    name: `${prefix}route_stage_seconds_total`,
    help: "The same, summed up by route of the pack.",
    labelNames: ["route", "stage"],
  });

  return function stage(name, route, seconds) {
    observe(seconds, name);
    count(seconds, route, name);
  };
}
