import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Sends `100 Continue` when the body is read for the first time. A request that its head decides gets its final status in
 * place of it, and its client never sends the body (RFC 9110 10.1.1).
 */
export function handleExpectation(request: IncomingMessage, response: ServerResponse): void {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  if (coding === undefined && !Number(length)) return response.writeContinue();
  // Not `_read`: nothing calls that where the client has sent the whole body with its head.
  const read = request.read.bind(request);
  request.read = (size) => {
    request.read = read;
    if (!response.headersSent && !response.destroyed) response.writeContinue();
    return read(size);
  };
}
