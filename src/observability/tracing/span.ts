/** Spans of one request, as OpenTelemetry has them; what makes them is loaded where traces are wanted. */

/** A call of v4, or of its login server, under way. */
export interface CallSpan {
  /** The call's own place in the trace, for who is called. */
  readonly traceparent: string;
  /** @param status of the answer; null where no answer came */
  end(status: number | null): void;
}

/** How a request ended. */
export interface RequestResult {
  /** The route's name in the pack; null where there is none. Never what the client wrote. */
  readonly route: string | null;
  readonly status: number;
  readonly lane: string;
  readonly requestId: string;
}

/** Begins the span of a call. `path` may have a query, which is left out. */
export type StartCallSpan = (method: string, path: string) => CallSpan;

/** A request under way. */
export interface RequestSpan {
  readonly call: StartCallSpan;
  end(ended: RequestResult): void;
}

export interface RequestStart {
  readonly method: string;
  /** The client's, where it sent one. */
  readonly traceparent: string | undefined;
  /** Default: now. */
  readonly time?: Date;
}

export interface Tracing {
  startRequest(request: RequestStart): RequestSpan;
  /** A call that no request made: a trace of its own. */
  readonly startCall: StartCallSpan;
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}
