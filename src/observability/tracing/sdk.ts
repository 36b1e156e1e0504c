import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
} from "@opentelemetry/api";
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
import { createResource, SERVICE_NAME } from "../otlp/otlp-resource.ts";
import type { RequestStart, CallSpan, RequestResult, RequestSpan, Tracing } from "./tracing.ts";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";

function remoteParent(header: string | undefined): Context {
  const parent = parseTraceparent(header);
  if (!parent) return ROOT_CONTEXT;
  const traceFlags = parent.traceFlags & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags, isRemote: true });
}

/** The sampler that `OTEL_TRACES_SAMPLER` names; OpenTelemetry's default for unknown names. */
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
  const tracer = provider.getTracer(SERVICE_NAME);

  function startCall(parent: Context, method: string, path: string): CallSpan {
    const attributes = { "http.request.method": method, "url.path": path.replace(/\?.*$/s, "") };
    const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, parent);
    return {
      traceparent: formatTraceparent(span.spanContext()),
      end(status) {
        if (status !== null) span.setAttribute("http.response.status_code", status);
        if (status === null || status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  function startRequest({ method, traceparent, time }: RequestStart): RequestSpan {
    const parent = remoteParent(traceparent);
    const span = tracer.startSpan(
      method,
      {
        kind: SpanKind.SERVER,
        attributes: { "http.request.method": method },
        ...(time && { startTime: time }),
      },
      parent,
    );
    const context = trace.setSpan(parent, span);
    return {
      call: (callMethod, path) => startCall(context, callMethod, path),
      end({ route, status, lane, requestId }: RequestResult) {
        if (route !== null) span.updateName(route).setAttribute("http.route", route.replace(/^\S+ /, ""));
        span.setAttributes({
          "http.response.status_code": status,
          "alpha_gateway.lane": lane,
          "alpha_gateway.request_id": requestId,
        });
        if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  return {
    startRequest,
    startCall: (method, path) => startCall(ROOT_CONTEXT, method, path),
    close: () => provider.shutdown(),
  };
}
