/** Spans of one request, as OpenTelemetry has them; what makes them is loaded where traces are wanted. */

/** A call of v4 under way. */
export interface CallSpan {
  /** The call's own place in the trace, for v4. */
  readonly traceparent: string;
  /** @param status v4's; null where no answer came */
  end(status: number | null): void;
}

/** How a request ended. */
export interface Ended {
  /** The route's name in the pack; null where there is none. Never what the client wrote. */
  readonly route: string | null;
  readonly status: number;
  readonly lane: string;
  readonly requestId: string;
}

/** A request under way. */
export interface RequestSpan {
  /** @param path with query, which is left out */
  call(method: string, path: string): CallSpan;
  end(ended: Ended): void;
}

export interface Begun {
  readonly method: string;
  /** The client's, where it sent one. */
  readonly traceparent: string | undefined;
  /** Default: now. */
  readonly time?: Date;
}

export interface Tracing {
  begin(request: Begun): RequestSpan;
  /** Sends what has not been sent yet. */
  close(): Promise<void>;
}
