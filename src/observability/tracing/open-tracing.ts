import { setTimeout as wait } from "node:timers/promises";
import type { Tracing } from "./span.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** How long the end of the process waits for a collector. */
const LAST_SPANS_MS = 2000;

/**
 * Are traces wanted? Said by OpenTelemetry's own variables: an endpoint, or the exporter by its name. Of exporters
 * there is OTLP over HTTP.
 */
function wanted(environment: Environment): boolean {
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER: exporter } = environment;
  if (OTEL_SDK_DISABLED?.toLowerCase() === "true") return false;
  if (exporter) return exporter.split(",").includes("otlp");
  return Boolean(
    environment["OTEL_EXPORTER_OTLP_ENDPOINT"] ?? environment["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"],
  );
}

/**
 * Begins to trace where the environment asks for it; else nothing is loaded, and a request costs nothing more.
 *
 * @param onFault hears of spans that could not be sent
 */
export async function openTracing(
  environment: Environment,
  onFault: (message: string) => void,
): Promise<Tracing | undefined> {
  if (!wanted(environment)) return undefined;
  const { startSdk } = await import("./sdk.ts");
  const tracing = startSdk(environment, onFault);
  return {
    ...tracing,
    close: () => Promise.race([tracing.close(), wait(LAST_SPANS_MS, undefined, { ref: false })]),
  };
}
