import { type Log, type Tracing, withOpenTelemetry } from "../../base/index.ts";
import { openHostTracing, openTracing } from "../tracing/open-tracing.ts";
import type { HostServices } from "../host-services.ts";

/** The tracing of the embedding program, or that which the environment enables. */
export const openTracingOf = (
  tracer: HostServices["tracer"],
  environment: NodeJS.ProcessEnv,
  log: Log,
): Promise<Tracing | undefined> =>
  tracer
    ? withOpenTelemetry("tracer", () =>
        openHostTracing(tracer, (error) =>
          log.warn({ code: "AG_TRACER_FAILED", error }, "the tracer of the program failed: spans are lost"),
        ),
      )
    : withOpenTelemetry("OTEL_EXPORTER_OTLP_ENDPOINT", () =>
        openTracing(environment, (message) =>
          log.warn({ code: "AG_TRACE_EXPORT_FAILED", message }, "spans were not sent"),
        ),
      );
