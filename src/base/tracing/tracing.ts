/** Spans of requests, in terms of OpenTelemetry. */

/** The span of a request to v4 or to its login server. */
export interface CallSpan {
  /** The `traceparent` header to send; undefined if the span has no valid ids. */
  readonly traceparent: string | undefined;
  /** Ends the span. @param status status of the response; null if missing */
  end(status: number | null): void;
}

/** The result of a client's request. */
export interface RequestResult {
  /** The route's name in the pack; null if no route matched. Never a path that the client sent. */
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
  /** The time of the event; the current time if omitted. */
  readonly time?: Date;
}

/** Creates spans. No method throws, even if the tracer fails. */
export interface Tracing {
  /** Starts the span of a client's request. Returns undefined if the tracer fails. */
  startRequest(request: RequestStart): RequestSpan | undefined;
  /** Starts the span of an upstream request that does not belong to a client's request. It has its own trace. */
  readonly startCall: StartCallSpan;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}
