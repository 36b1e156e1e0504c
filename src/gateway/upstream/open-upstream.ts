import type { Log, Metrics } from "../../base/index.ts";
import { createUpstream, type UpstreamClient, type UpstreamOptions } from "./client.ts";

/** Creates the client of v4, and logs and counts the states of its circuit. */
export function openUpstream(options: UpstreamOptions, log: Log, metrics: Metrics): UpstreamClient {
  const upstream = createUpstream({
    ...options,
    breaker: {
      ...options.breaker,
      onChange(state) {
        if (state === "closed") log.info({}, `${options.name} responds again: the circuit is closed`);
        else
          log.error(
            { code: "AG_CIRCUIT_OPEN" },
            `${options.name} fails: the circuit is open, a few requests a second probe it`,
          );
      },
    },
  });
  metrics.addGauge("v4_breaker_open", "1 while the circuit to the upstream is open, else 0.", () =>
    Number(upstream.breaker.state() !== "closed"),
  );
  return upstream;
}
