/** Translates v4's errors to alpha's. */
import { SecretValues } from "../../audit/index.ts";
import {
  type ErrorDetail,
  errorsOf,
  type ErrorSummary,
  type Failure,
  meaningOf,
  TOO_MANY_REQUESTS,
  type Route,
  TranslatedError,
} from "../../pack/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { UpstreamResponse } from "./upstream-response.ts";

/** The reasons by status, if v4 returns none. */
const DEFAULT_REASONS: Readonly<Record<number, string>> = {
  401: "The access token is not valid.",
  403: "This is not permitted.",
  404: "Not found",
};

/** Whether a 404 means that an id in the body is unknown, because the path of the request contains no id. */
const isUnknownInBody = ({ status }: UpstreamResponse, { namesObject }: Route, method: string): boolean =>
  status === 404 && method === "POST" && !namesObject;

/** Maximum length in characters of names and reasons that are translated. */
const LONGEST_NAME = 100;
const LONGEST_REASON = 2000;

/** Replaces v4's name of a field in a reason (`config_id is not valid`) with alpha's. */
function inAlphaNames(reason: string, v4: string, alpha: string): string {
  if (v4 === alpha || v4.length > LONGEST_NAME || reason.length > LONGEST_REASON) return reason;
  const word = new RegExp(`(?<![\\w.])${RegExp.escape(v4)}(?![\\w[])(?!\\.\\w)`, "g");
  return reason.replaceAll(word, () => alpha);
}

/** Minimum length in characters of a token's part that is removed from errors. Shorter parts, such as a user name, stay. */
const SHORTEST_PART = 6;

/** Returns the function that removes v4's token from an error, if the client does not have this token. */
function redactToken({ client, upstream, services }: AuthorizedRequest): (error: ErrorDetail) => ErrorDetail {
  const { v4Token } = upstream.activity;
  if (v4Token === undefined || v4Token === client.token) return (error) => error;
  const secrets = new SecretValues();
  secrets.addToken(v4Token);
  for (const text of services.pack.credentials.upstream?.spellings?.(v4Token) ?? [])
    if (text.length >= SHORTEST_PART) secrets.addToken(text);
  return ({ reason, field, code }) => ({
    reason: secrets.redact(reason),
    ...(field !== undefined && { field: secrets.redact(field) }),
    ...(code !== undefined && { code: secrets.redact(code) }),
  });
}

/** The data for translating the error of a call. */
interface FailedCall {
  readonly method: string;
  readonly gatewayFields: ReadonlySet<string>;
  readonly clientSent: (member: string) => boolean;
  /** The pack's definition of the error if v4 refuses the call. */
  readonly failure?: Failure | undefined;
}

/** Whether v4 refuses the object of a call, instead of the client or all calls. */
const isRefusal = (status: number): boolean =>
  status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== TOO_MANY_REQUESTS;

/** Returns the text of a problem. If its only text is its code, the client's code is used. */
function translateReason(
  { reason, code }: ErrorDetail,
  clientCode: string | undefined,
  ofStatus: string,
): string {
  if (reason === "") return ofStatus;
  return reason === code ? (clientCode ?? ofStatus) : reason;
}

/** One error of v4 in the client's terms. `field` is still v4's. */
interface Problem extends ErrorSummary {
  readonly field?: string | undefined;
  /** The status for the error's code, if the pack defines one. */
  readonly status?: number | undefined;
}

/** Sets the client's name of the field in a problem. A member that the gateway added has no client name. */
function inClientFields(
  { reason, code, field }: Problem,
  route: Route,
  { gatewayFields }: FailedCall,
): ErrorDetail {
  const ofCode = code !== undefined && { code };
  const name = field === undefined || gatewayFields.has(field) ? undefined : route.errorField(field);
  if (name === undefined || field === undefined) return { reason, ...ofCode };
  return { reason: inAlphaNames(reason, field, name), field: name, ...ofCode };
}

/** Whether v4 did not find the object that the client named in a field of the body. */
const isOfNotFoundField = (
  { status }: UpstreamResponse,
  { notFoundField }: Route,
  { clientSent }: FailedCall,
): boolean => status === 404 && notFoundField !== undefined && clientSent(notFoundField);

/** Adds the field of {@link isOfNotFoundField} to the first error, unless that has a field. */
function nameFirst(
  errors: readonly ErrorDetail[],
  { notFoundField: field }: Route,
  reason: string,
): readonly ErrorDetail[] {
  const [first = { reason }, ...others] = errors;
  return first.field === undefined && field !== undefined ? [{ ...first, field }, ...others] : errors;
}

/**
 * Throws v4's error as alpha's. It contains neither members that the gateway added, nor a token that the client does
 * not have.
 *
 * @throws {HttpError} always
 */
export function throwTranslatedError(
  response: UpstreamResponse,
  route: Route,
  call: FailedCall,
  authorized: AuthorizedRequest,
): never {
  const { report } = authorized;
  if (route.headers?.error) report.upstreamHead = response;
  const { pack } = authorized.services;
  const meaning = meaningOf(response.status);
  const upstreamStatus = isUnknownInBody(response, route, call.method)
    ? pack.statuses.unknownInBody
    : response.status;
  const tableStatus = pack.statuses.translate(upstreamStatus);
  if (meaning === "limited") report.upstreamRateLimit = pack.rateLimitHeaders.upstream.read(response.headers);
  if (tableStatus !== response.status)
    report.warnings.push(`${pack.dialect.upstream.name} responded with ${response.status}`);
  const defaultReason =
    meaning === "failed" ? "The service could not process this request." : "The request was refused.";
  const reasonOfStatus = DEFAULT_REASONS[upstreamStatus] ?? defaultReason;
  const failure = isRefusal(response.status) ? call.failure : undefined;
  const redact = redactToken(authorized);

  function translate(given: ErrorDetail): Problem {
    const error = redact(given);
    const rule = error.code === undefined ? undefined : pack.errorCodes.translate(error.code);
    const { code, status, message } = { ...rule, ...failure };
    return {
      code,
      status,
      field: error.field,
      reason: message ?? translateReason(error, code, reasonOfStatus),
    };
  }

  // A body without a problem is treated as one error without a text.
  const { details, summary: overall } = errorsOf(route, pack).upstream.read(
    response.json,
    response.status,
  ) ?? {
    details: [{ reason: "" }],
  };
  const summary = overall && translate(overall);
  const problems = details.map(translate);
  // The first problem whose code has a status determines the status.
  const status =
    [summary, ...problems].find((problem) => problem?.status !== undefined)?.status ?? tableStatus;
  const errors = problems.map((problem) => inClientFields(problem, route, call));
  const named = isOfNotFoundField(response, route, call) ? nameFirst(errors, route, defaultReason) : errors;
  throw new TranslatedError(status, named, { summary, meaning });
}
