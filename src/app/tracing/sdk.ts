import { diag, DiagLogLevel } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from "@opentelemetry/sdk-trace";
import { loadResource, reasonOfError, type Tracing } from "../../base/index.ts";
import { createTracing } from "./spans.ts";

const { createResource, SERVICE_NAME } = await loadResource();

/** Returns the sampler that `OTEL_TRACES_SAMPLER` names; OpenTelemetry's default for unknown names. */
function samplerOf(name = "parentbased_always_on", argument = "1"): Sampler {
  const ratio = Number(argument);
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio >= 0 && ratio <= 1 ? ratio : 1),
  };
  const root = (roots[name.replace(/^parentbased_/, "")] ?? (() => new AlwaysOnSampler()))();
  return name in roots ? root : new ParentBasedSampler({ root });
}

/** Starts OpenTelemetry's SDK. Its own variables configure it; the exporter reads endpoint, headers and time-outs. */
export function startSdk(
  environment: Readonly<Record<string, string | undefined>>,
  onError: (message: string) => void,
): Tracing {
  const ignore = (): void => {};
  diag.setLogger(
    { error: onError, warn: ignore, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  const provider = new TracerProvider({
    resource: createResource(),
    sampler: samplerOf(environment["OTEL_TRACES_SAMPLER"], environment["OTEL_TRACES_SAMPLER_ARG"]),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  return createTracing(
    provider.getTracer(SERVICE_NAME),
    () => provider.shutdown(),
    (error) => onError(reasonOfError(error)),
  );
}
