import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from "express";
import { AuditUnavailableError, DamagedRecordError } from "../audit/index.ts";

/** One problem of an admin request. `parameter` names the invalid query parameter. */
export interface Problem {
  readonly reason: string;
  readonly parameter?: string;
}

/** Sends `{"errors":[{"reason", "parameter"?}]}`. */
export function sendErrors(response: Response, status: number, problems: readonly Problem[] | string): void {
  const errors = typeof problems === "string" ? [{ reason: problems }] : problems;
  response.status(status).json({ errors });
}

/** Sends a 404. */
export const sendNotFound: RequestHandler = function sendNotFound(_request, response) {
  sendErrors(response, 404, "There is nothing here.");
};

/** Rejects all query parameters, for paths that accept none. */
export function refuseParameters(
  { query }: Pick<Request, "query">,
  response: Response,
  next: NextFunction,
): void {
  const names = Object.keys(query);
  if (names.length === 0) return next();
  sendErrors(
    response,
    400,
    names.map((parameter) => ({ reason: "This path has no query parameters.", parameter })),
  );
}

/** Creates the error handler: it sends JSON without internal details. A response that has already started is aborted. */
export function handleError(onError: (error: unknown) => void = () => {}): ErrorRequestHandler {
  // Express recognises an error handler by its four parameters.
  return function sendError(error: unknown, _request, response, _next) {
    if (response.headersSent) {
      onError(error);
      // The response is not completed, so that the client detects that it is incomplete.
      return void response.destroy();
    }
    if (error instanceof DamagedRecordError) {
      onError(error);
      return sendErrors(response, 500, error.message);
    }
    if (error instanceof AuditUnavailableError) {
      onError(error);
      return sendErrors(response, 503, "The audit store can't be read now. Try again later.");
    }
    if (isClientError(error)) return sendErrors(response, error.status, "The request can't be read.");
    onError(error);
    return sendErrors(response, 500, "Something went wrong here.");
  };
}

/** Whether Express throws this error for an invalid request, such as a bad escape or a large body. */
function isClientError(error: unknown): error is { status: number } {
  if (!(error instanceof Error) || !("status" in error)) return false;
  return typeof error.status === "number" && error.status >= 400 && error.status < 500;
}
