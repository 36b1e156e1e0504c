import type { ErrorRequestHandler, RequestHandler, Response } from "express";
import { AuditUnavailableError } from "../audit/store.ts";

/** One problem of an admin request; `parameter` names the query parameter at fault. */
export interface Problem {
  readonly reason: string;
  readonly parameter?: string;
}

/** Answers with `{"errors":[{"reason", "parameter"?}]}`. */
export function sendErrors(response: Response, status: number, problems: readonly Problem[] | string): void {
  const errors = typeof problems === "string" ? [{ reason: problems }] : problems;
  response.status(status).json({ errors });
}

export const sendNotFound: RequestHandler = function answerNotFound(_request, response) {
  sendErrors(response, 404, "There is nothing here.");
};

/** The end of every failed request: JSON, and nothing of what went wrong inside. */
export function handleError(onError: (error: unknown) => void = () => {}): ErrorRequestHandler {
  // Express tells an error handler by its four parameters.
  return function answerError(error: unknown, _request, response, next) {
    if (response.headersSent) return next(error);
    if (error instanceof AuditUnavailableError) {
      onError(error);
      return sendErrors(response, 503, "The audit store cannot be read now.");
    }
    if (isClientError(error)) return sendErrors(response, error.status, "The request cannot be read.");
    onError(error);
    return sendErrors(response, 500, "Something went wrong here.");
  };
}

/** What Express and its parsers throw over a bad escape in a path, or a body too large. */
function isClientError(error: unknown): error is { status: number } {
  if (!(error instanceof Error) || !("status" in error)) return false;
  return typeof error.status === "number" && error.status >= 400 && error.status < 500;
}
