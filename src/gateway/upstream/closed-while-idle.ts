/** Requests on an idle connection that the server closed while it was being reused. */

/** The idempotent methods (RFC 9110 9.2.2). */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** The connection of a request that has failed. */
interface FailedConnection {
  /** Whether it has served another request before. */
  readonly isReused: boolean;
  /** Whether the server has sent a byte for this request. */
  readonly hasResponse: boolean;
}

/** Whether the server closed the connection, and sent no byte of a response. */
export const isClosedWhileIdle = ({ isReused, hasResponse }: FailedConnection): boolean =>
  isReused && !hasResponse;

/** Whether a request that failed so may be sent again (RFC 9110 9.2.2). */
export const maySendAgain = (method: string, wasClosedWhileIdle: boolean): boolean =>
  wasClosedWhileIdle && IDEMPOTENT.has(method);
