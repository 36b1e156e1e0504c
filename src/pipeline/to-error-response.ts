import { AuditUnavailable } from "../audit/store.ts";
import { writeErrors, type ErrorNames } from "../dialect/errors.ts";
import { printJson } from "../dialect/json/parse.ts";
import { HttpError, type ErrorDetail } from "../dialect/http-error.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";
import { StateUnavailableError } from "../storage/key-value-store.ts";
import { TokenUnavailableError } from "../auth/token-store.ts";
import { ExpressionError } from "../jsonata/index.ts";
import { UnusablePathValue } from "../mapping/compile/endpoint.ts";
import { InvalidUpstreamResponseError } from "./stages/build-response.ts";
import type { RequestContext } from "./context.ts";

/** A failure as the client is told of it, and whether it is one that nobody foresaw. */
export interface ErrorResponse {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly isUnexpected: boolean;
}

/** Failures that the road knows; what they say is for the log. */
const FORESEEN = [
  UpstreamError,
  InvalidUpstreamResponseError,
  UnusablePathValue,
  ExpressionError,
  TokenUnavailableError,
  StateUnavailableError,
  AuditUnavailable,
];

/**
 * The one place where a failure becomes an answer. Only the gateway's own refusals show their words; all else
 * is one neutral sentence with the request's id, under which the log and the audit record say what happened.
 */
export function toErrorResponse(
  error: unknown,
  id: string,
  notes: RequestContext,
  names: ErrorNames,
): ErrorResponse {
  if (error instanceof HttpError) {
    return { status: error.status, body: printJson(writeErrors(error.details, names)), isUnexpected: false };
  }
  const foreseen = FORESEEN.some((kind) => error instanceof kind);
  // An upstream fault was noted where it happened, with the call.
  if (!(error instanceof UpstreamError))
    notes.warnings.push(foreseen ? (error as Error).message : "an unforeseen error");
  const fault: ErrorDetail = { reason: `The service could not answer this request (${id}).` };
  return { status: 500, body: printJson(writeErrors([fault], names)), isUnexpected: !foreseen };
}
