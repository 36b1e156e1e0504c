/** Converts an error of the pipeline to the response of its client. */
import { errorText, printJson, StateUnavailableError } from "../../base/index.ts";
import { AuditUnavailableError } from "../../audit/index.ts";
import { TokenUnavailableError } from "../auth/token-store.ts";
import {
  type ErrorDetail,
  errorsOf,
  type ErrorSummary,
  HttpError,
  type InvalidPart,
  InvalidPathValueError,
  InvalidCallValueError,
  type Pack,
  TranslatedError,
  type UpstreamErrorMeaning,
  ValidationError,
} from "../../pack/index.ts";
import { ExpressionError } from "../../jsonata/index.ts";
import { UpstreamError } from "../upstream/upstream-error.ts";
import type { RequestContext } from "../request/context.ts";
import type { AlphaRequest } from "../request/request.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";

export interface ErrorResult {
  readonly status: number;
  /** Writes the body. @param retryAfter the seconds of the response's `Retry-After` */
  readonly writeBody: (retryAfter?: number) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly meaning: UpstreamErrorMeaning;
  /** Whether the error is a bug of the gateway. */
  readonly isUnexpected: boolean;
}

/** Errors that the pipeline expects. Their messages are for the log. */
const EXPECTED = [
  HttpError,
  UpstreamError,
  InvalidUpstreamResponseError,
  InvalidPathValueError,
  InvalidCallValueError,
  ExpressionError,
  TokenUnavailableError,
  StateUnavailableError,
  AuditUnavailableError,
];

/** Whether an error is not a bug of the gateway. */
export const isExpected = (error: unknown): boolean => EXPECTED.some((kind) => error instanceof kind);

/** Converts an error of the gateway to the client's status and codes. Other errors already have them. */
function toClientError(
  error: HttpError,
  part: InvalidPart,
  { statuses, errorCodes, validationSummaries, namesParameters }: Pack,
): Pick<HttpError, "status" | "details"> & { readonly summary?: ErrorSummary | undefined } {
  if (error instanceof TranslatedError) return error;
  const withCode = (detail: ErrorDetail): ErrorDetail => {
    const code = detail.code ?? errorCodes.ofRule(detail.rule, part);
    return { ...detail, ...(code !== undefined && { code }) };
  };
  if (!(error instanceof ValidationError))
    return {
      status: error.rejection?.isExactStatus
        ? statuses.translateExactly(error.status)
        : statuses.translate(error.status),
      details: error.details.map((detail) => (detail.rule === undefined ? detail : withCode(detail))),
    };
  const details = error.details.map((detail) => {
    const field = detail.field ?? (namesParameters ? detail.parameter : undefined);
    return { ...withCode(detail), ...(field !== undefined && { field }) };
  });
  // A request that breaks a second rule is invalid. The client must correct that first.
  const [first] = details;
  if (first?.status !== undefined && details.every(({ status }) => status !== undefined))
    return { status: first.status, details };
  return { status: statuses.validation[part], details, summary: validationSummaries[part] };
}

function meaningOfError(error: HttpError): UpstreamErrorMeaning {
  if (error instanceof TranslatedError) return error.meaning;
  return error.rejection?.by === "limit" ? "limited" : "refused";
}

/** A shape that consists of one value, such as `$code`, has no body if the value is missing. */
const printBody = (body: unknown): string => (body === undefined ? "" : printJson(body));

/**
 * Returns the response to an error. Only the gateway's own HTTP errors contain their reasons. All other errors contain
 * one neutral sentence with the request's id, by which the log and the audit record contain the cause.
 */
export function toErrorResult(
  error: unknown,
  { id, method, path }: Pick<AlphaRequest, "id" | "method" | "path">,
  { warnings, match, readsQuery }: Pick<RequestContext, "warnings" | "match" | "readsQuery">,
  pack: Pack,
): ErrorResult {
  const { statuses } = pack;
  const errors = errorsOf(match?.route, pack);
  const name = match?.route.object;
  const request = { method, path, parameters: match?.parameters };
  const writerOf =
    (details: readonly ErrorDetail[], status: number, summary?: ErrorSummary) =>
    (retryAfter?: number): string =>
      printBody(errors.client.write(details, status, { summary, name, request, retryAfter }));
  if (error instanceof HttpError) {
    for (const { cause } of error.details) if (cause) warnings.push(cause.message);
    const { status, details, summary } = toClientError(error, readsQuery ? "query" : "body", pack);
    return {
      status,
      writeBody: writerOf(details, status, summary),
      ...(error.headers && { headers: error.headers }),
      meaning: meaningOfError(error),
      isUnexpected: false,
    };
  }
  const isUnexpected = !isExpected(error);
  // The call has already added a warning about its failure.
  if (!(error instanceof UpstreamError))
    warnings.push(isUnexpected ? "an unexpected error" : errorText(error));
  const field = error instanceof ExpressionError ? error.origin?.field : undefined;
  const cause = field === undefined ? "" : `: ${field} could not be translated`;
  const detail: ErrorDetail = { reason: `The service could not process this request (${id})${cause}.` };
  return {
    status: statuses.failed,
    writeBody: writerOf([detail], statuses.failed),
    meaning: "failed",
    isUnexpected,
  };
}
