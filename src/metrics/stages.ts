import { Counter, Histogram, type Registry } from "@prometheus-io/client";

/** Most stops take microseconds; one that waits, for a store or for another request's turn, takes seconds. */
const BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

/**
 * Adds the time that requests spend at each stop of the road: its distribution by stop, and its sum by stop and
 * route. A distribution for each of both would be thousands of figures.
 */
export function addStages(
  registers: Registry[],
  prefix: string,
): (stage: string, route: string, seconds: number) => void {
  const distribution = new Histogram({
    name: `${prefix}stage_seconds`,
    help: "Time at one stop of the road: credentials, limits, admission, out, upstream, back, record.",
    labelNames: ["stage"],
    buckets: BUCKETS,
    registers,
  });
  const sums = new Map<string, Map<string, number>>();
  const byRoute: Counter<"route" | "stage"> = new Counter({
    name: `${prefix}route_stage_seconds_total`,
    help: "The same, summed up by route of the pack.",
    labelNames: ["route", "stage"],
    registers,
    // Written down here, and only read into figures when they are asked for.
    collect() {
      byRoute.reset();
      for (const [route, stages] of sums)
        for (const [stage, seconds] of stages) byRoute.inc({ route, stage }, seconds);
    },
  });
  const labels = new Map<string, { readonly stage: string }>();

  return function stage(name, route, seconds) {
    let label = labels.get(name);
    if (!label) labels.set(name, (label = { stage: name }));
    distribution.observe(label, seconds);
    let stages = sums.get(route);
    if (!stages) sums.set(route, (stages = new Map()));
    stages.set(name, (stages.get(name) ?? 0) + seconds);
  };
}
