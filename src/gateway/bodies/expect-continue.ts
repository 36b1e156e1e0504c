import type { IncomingMessage, ServerResponse } from "node:http";

/** The response to a request whose client waits before it sends the body. */
const RESPONSE = Symbol("response");

interface WaitingRequest extends IncomingMessage {
  [RESPONSE]: ServerResponse;
}

/**
 * Starts the first read of a body. All requests share one function, because closures would enter V8's old space and
 * keep their requests.
 */
function continueAndRead(this: WaitingRequest, size?: number): unknown {
  Reflect.deleteProperty(this, "read");
  const { [RESPONSE]: response } = this;
  if (!response.headersSent && !response.destroyed) response.writeContinue();
  return this.read(size);
}

/**
 * Sends `100 Continue` when the body is read for the first time. If the gateway responds to the head alone, it sends
 * the final status instead, and the client never sends the body (RFC 9110 10.1.1).
 */
export function handleExpectation(request: IncomingMessage, response: ServerResponse): void {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  if (coding === undefined && !Number(length)) return response.writeContinue();
  // Not `_read`, which is never called if the client has sent the whole body with its head.
  Object.assign(request, { [RESPONSE]: response, read: continueAndRead });
}
