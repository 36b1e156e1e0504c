/** Spans of requests, in terms of OpenTelemetry. */

/** The span of a request to v4 or to its login server. */
export interface CallSpan {
  /** The `traceparent` header to send; undefined if the tracer gives the span no valid ids. */
  readonly traceparent: string | undefined;
  /** Ends the span. @param status Status of the response; null without one. */
  end(status: number | null): void;
}

/** The result of a client's request. */
export interface RequestResult {
  /** The route's name in the pack; null without a route. Never a path that the client sent. */
  readonly route: string | null;
  readonly status: number;
  readonly lane: string;
  readonly requestId: string;
}

/** Starts the span of an upstream request; returns undefined if the tracer fails. The query of `path` is left out. */
export type StartCallSpan = (method: string, path: string) => CallSpan | undefined;

/** The span of a client's request. */
export interface RequestSpan {
  readonly call: StartCallSpan;
  /** Ends the span. */
  end(result: RequestResult): void;
}

export interface RequestStart {
  readonly method: string;
  /** The client's header, if it sent one. */
  readonly traceparent: string | undefined;
  /** Default: now. */
  readonly time?: Date;
}

/** No method throws, whatever the tracer does. */
export interface Tracing {
  /** Returns undefined if the tracer fails. */
  startRequest(request: RequestStart): RequestSpan | undefined;
  /** Starts the span of an upstream request that belongs to no client's request: a trace of its own. */
  readonly startCall: StartCallSpan;
  /** Sends the spans that were not sent yet. */
  close(): Promise<void>;
}
