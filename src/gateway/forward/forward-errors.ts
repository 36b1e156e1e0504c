/** The responses of the gateway itself to requests that it should forward. */

/** An error of the gateway. */
export interface ForwardError {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The errors of the gateway by event. */
export interface ForwardErrors {
  /** The upstream can't be reached or broke off, or the gateway failed. */
  readonly failed: ForwardError;
  /** The upstream did not respond in time. */
  readonly timedOut: ForwardError;
  /** The circuit is open, or all connections are in use. */
  readonly unavailable: ForwardError;
  /** The client has too many requests. */
  readonly limited: ForwardError;
}
