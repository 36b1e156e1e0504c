import type { Registry } from "@prometheus-io/client";
import { addCounter, addHistogram } from "./instruments.ts";

/** In seconds. Most stages take microseconds; one that waits for a store or for another request takes seconds. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

/**
 * Adds the time that requests spend in each stage of the pipeline: its distribution by stage, and its sum by stage and
 * route. A distribution by both would be thousands of series.
 */
export function addStageMetrics(
  registry: Registry,
  prefix: string,
): (stage: string, route: string, seconds: number) => void {
  const observe = addHistogram(registry, {
    name: `${prefix}stage_seconds`,
    help: "Time in one stage of the pipeline.",
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
