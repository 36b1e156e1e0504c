import type { Metrics } from "../observability/metrics/metrics.ts";
import { createUpstream, type UpstreamClient, type UpstreamOptions } from "../upstream/client.ts";
import type { Log } from "../observability/log.ts";

/** Makes the client of v4, and tells of its circuit breaker. */
export function connectV4(
  options: UpstreamOptions,
  { log, metrics }: { readonly log: Log; readonly metrics: Pick<Metrics, "gauge"> },
): UpstreamClient {
  const upstream = createUpstream({
    ...options,
    breaker: {
      onChange(state) {
        if (state === "closed") log.info("v4 answers again");
        else
          log.error(
            { code: "AG_CIRCUIT_OPEN" },
            "v4 fails: the circuit is open, one request a second probes v4",
          );
      },
    },
  });
  metrics.gauge(
    "v4_breaker_open",
    "1 while v4 fails so often that clients are refused without asking it.",
    () => Number(upstream.breaker.state() !== "closed"),
  );
  return upstream;
}
