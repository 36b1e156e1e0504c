/** The gateway's own responses to requests that it should forward. */

/** An error of the gateway. */
export interface ForwardError {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The gateway's errors by event. */
export interface ForwardErrors {
  /** The upstream can't be reached or ended the response early, or the gateway failed. */
  readonly failed: ForwardError;
  /** The upstream did not respond in time. */
  readonly timedOut: ForwardError;
  /** The circuit is open, or all connections are in use. */
  readonly unavailable: ForwardError;
  /** The client has too many requests. */
  readonly limited: ForwardError;
}
