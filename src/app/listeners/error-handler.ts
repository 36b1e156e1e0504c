/** The end of a list of middleware. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { FAILURE } from "../../gateway/index.ts";
import type { PublicAppDependencies } from "./public-dependencies.ts";

/** Express middleware for errors outside of a pipeline. Errors inside of it already have a response. */
type ErrorMiddleware = (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  next: unknown,
) => void;

/** Creates the error handler at the end of the list. The error only appears in its log line. */
export function createErrorHandler({
  pack,
  log,
}: Pick<PublicAppDependencies, "pack" | "log">): ErrorMiddleware {
  const { errors, statuses } = pack;
  const body = JSON.stringify(errors.client.write([{ reason: FAILURE }], statuses.failed));
  const headers = { "content-type": "application/json; charset=utf-8", "x-content-type-options": "nosniff" };
  // Express recognizes an error handler by its four parameters.
  return function handleError(error, _request, response, _next) {
    log.error({ code: "AG_UNEXPECTED_ERROR", err: error }, "unexpected error outside the pipeline");
    if (response.headersSent) response.destroy();
    else response.writeHead(statuses.failed, headers).end(body);
  };
}
