/** Opens tracing. OpenTelemetry's SDK is only loaded if tracing is enabled. */
import { setTimeout as wait } from "node:timers/promises";
import type { Tracer } from "@opentelemetry/api";
import { type Log, reasonOfError, type Tracing, withOpenTelemetry } from "../../base/index.ts";

/**
 * A tracer of `@opentelemetry/api`. The type is declared here, because programs without tracing do not install that
 * package.
 */
export interface HostTracer {
  startSpan(...args: never[]): unknown;
}

/**
 * Traces requests with the tracer of the embedding program, which sends the spans itself.
 *
 * @param onError called with the first error of the tracer or of its spans
 */
async function openHostTracing(tracer: HostTracer, onError: (message: string) => void): Promise<Tracing> {
  const { createTracing } = await import("./spans.ts");
  let hasFailed = false;
  return createTracing(
    tracer as Tracer,
    async () => {},
    (error) => {
      if (!hasFailed) onError(reasonOfError(error));
      hasFailed = true;
    },
  );
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Milliseconds that the shutdown waits for the collector. */
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Whether OpenTelemetry's own variables enable tracing: an endpoint, or the name of the exporter. `otlp` (over HTTP) is
 * supported.
 */
function isEnabled(environment: Environment): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER: exporter } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === "true") return false;
  if (exporter) return exporter.split(",").includes("otlp");
  return Boolean(
    environment["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
  );
}

/**
 * Starts tracing if the environment enables it. Otherwise no SDK is loaded, and requests have no additional cost.
 *
 * @param onError called if spans could not be sent
 */
async function openTracing(
  environment: Environment,
  onError: (message: string) => void,
): Promise<Tracing | undefined> {
  if (!isEnabled(environment)) return undefined;
  const { startSdk } = await import("./sdk.ts");
  const tracing = startSdk(environment, onError);
  return {
    ...tracing,
    close: () => Promise.race([tracing.close(), wait(CLOSE_TIMEOUT_MS, undefined, { ref: false })]),
  };
}

/** Opens the tracing of the embedding program, otherwise the one that the environment enables. */
export const openTracingOf = (
  tracer: HostTracer | undefined,
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
