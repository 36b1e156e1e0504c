import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type Tracer,
} from "@opentelemetry/api";
import {
  callHost,
  type CallSpan,
  formatTraceparent,
  parseTraceparent,
  type RequestResult,
  type RequestSpan,
  type RequestStart,
  type Tracing,
} from "../../base/index.ts";

/** Returns the active span of the embedding program, otherwise the span in the client's header. */
function parentOf(header: string | undefined): Context {
  const active = context.active();
  if (trace.getSpan(active)) return active;
  const parent = parseTraceparent(header);
  if (!parent) return ROOT_CONTEXT;
  const traceFlags = parent.traceFlags & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags, isRemote: true });
}

/**
 * Creates the spans of requests with a tracer.
 *
 * @param close sends the remaining spans
 * @param onError called with errors of the tracer and its spans, which never fail a request
 */
export function createTracing(
  tracer: Tracer,
  close: () => Promise<void>,
  onError: (error: unknown) => void,
): Tracing {
  const attempt = <Result>(call: () => Result): Result | undefined => callHost(call, onError);

  /**
   * Returns the `traceparent` of a span. If it has no valid ids, as with a tracer without an SDK, the call keeps the
   * `traceparent` of its request.
   */
  const traceparentOf = (span: Span): string | undefined => {
    const ids = attempt(() => span.spanContext());
    const text = attempt(() => ids && formatTraceparent(ids));
    return text !== undefined && parseTraceparent(text) ? text : undefined;
  };

  function startCall(parent: Context, method: string, path: string): CallSpan | undefined {
    const attributes = { "http.request.method": method, "url.path": path.replace(/\?.*$/s, "") };
    const span = attempt(() => tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, parent));
    if (!span) return undefined;
    return {
      traceparent: traceparentOf(span),
      end(status) {
        if (status !== null) attempt(() => span.setAttribute("http.response.status_code", status));
        if (status === null || status >= 400) attempt(() => span.setStatus({ code: SpanStatusCode.ERROR }));
        attempt(() => span.end());
      },
    };
  }

  function startRequest({ method, traceparent, time }: RequestStart): RequestSpan | undefined {
    const parent = attempt(() => parentOf(traceparent)) ?? ROOT_CONTEXT;
    const options = {
      kind: SpanKind.SERVER,
      attributes: { "http.request.method": method },
      ...(time && { startTime: time }),
    };
    const span = attempt(() => tracer.startSpan(method, options, parent));
    if (!span) return undefined;
    const own = trace.setSpan(parent, span);
    return {
      call: (callMethod, path) => startCall(own, callMethod, path),
      end({ route, status, lane, requestId }: RequestResult) {
        if (route !== null) {
          attempt(() => span.updateName(route));
          attempt(() => span.setAttribute("http.route", route.replace(/^\S+ /, "")));
        }
        attempt(() =>
          span.setAttributes({
            "http.response.status_code": status,
            "alpha_gateway.lane": lane,
            "alpha_gateway.request_id": requestId,
          }),
        );
        if (status >= 500) attempt(() => span.setStatus({ code: SpanStatusCode.ERROR }));
        attempt(() => span.end());
      },
    };
  }

  return {
    startRequest,
    startCall: (method, path) => startCall(ROOT_CONTEXT, method, path),
    close,
  };
}
