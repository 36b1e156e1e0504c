import type { Metrics } from "./metrics.ts";

/** The metrics of features, and their counters. */
export type FeatureMetrics = Pick<
  Metrics,
  "addGauge" | "addRouteGauge" | "countComparison" | "countNoRoom" | "countNotice" | "countStage"
>;

/** The metrics of a command. They are never read. */
export const NO_METRICS: FeatureMetrics = {
  addGauge() {},
  addRouteGauge() {},
  countComparison() {},
  countNoRoom() {},
  countNotice() {},
  countStage() {},
};
