import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Tracer,
} from "@opentelemetry/api";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";
import type { CallSpan, RequestResult, RequestSpan, RequestStart, Tracing } from "./tracing.ts";

/** The span that is active in the embedding program, else that of the client's header. */
function parentOf(header: string | undefined): Context {
  const active = context.active();
  if (trace.getSpan(active)) return active;
  const parent = parseTraceparent(header);
  if (!parent) return ROOT_CONTEXT;
  const traceFlags = parent.traceFlags & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags, isRemote: true });
}

/** Creates the spans of requests with a tracer. @param close Sends the spans that were not sent yet. */
export function createTracing(tracer: Tracer, close: () => Promise<void>): Tracing {
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
    const parent = parentOf(traceparent);
    const span = tracer.startSpan(
      method,
      {
        kind: SpanKind.SERVER,
        attributes: { "http.request.method": method },
        ...(time && { startTime: time }),
      },
      parent,
    );
    const own = trace.setSpan(parent, span);
    return {
      call: (callMethod, path) => startCall(own, callMethod, path),
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
    close,
  };
}
