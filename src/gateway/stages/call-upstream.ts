/** The v4 calls of a route, starting with the main call. */
import { type ErrorFormats, errorsOf, NOT_MODIFIED } from "../../pack/index.ts";
import { isObject } from "../../base/index.ts";
import { throwTranslatedError } from "../calls/translate-error.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import { scopeOf } from "../calls/request-scope.ts";
import type { UpstreamResponse } from "../calls/upstream-response.ts";
import { callAfter, readEachValues, type UpstreamResult } from "./call-after.ts";
import { callParts } from "./call-parts.ts";

/**
 * Makes the main call of a route, and the calls after it.
 *
 * @throws {HttpError} v4's error, translated; 400 for a body that needs too many calls
 */
export async function callUpstream(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<UpstreamResult> {
  const { match, report } = authorized;
  const { route } = match;
  const { parts, after } = route.callOrder;
  // Too many values are an error, which must be found before anything is written.
  const eachValues = after.length > 0 ? await readEachValues(prepared, authorized) : undefined;
  const response = await (parts.length > 0 ? callParts : callWithRetry)(prepared, authorized);
  if (route.headers && isNotModified(response, prepared)) {
    report.upstreamHead = response;
    return { response, calls: {}, fallback: "" };
  }
  if (!response.success) throwTranslatedError(response, route, prepared, authorized);
  for (const loss of prepared.losses ?? []) report.losses.add(loss);
  const result = eachValues
    ? await callAfter(response, prepared, eachValues, authorized)
    : { response, calls: prepared.calls ?? {} };
  // Only a successful response contains headers of v4's responses. An error is the gateway's, and must not contain
  // headers such as v4's `Retry-After`.
  if (route.headers || route.text) {
    report.upstreamHead = result.response;
    report.scope = scopeOf(prepared, authorized, result);
  }
  return result;
}

/** Whether v4 responds that the client's copy is current. This is only valid if the client sent the version of its copy. */
const isNotModified = ({ status }: UpstreamResponse, { headers }: PreparedRequest): boolean =>
  status === NOT_MODIFIED &&
  (headers?.["if-none-match"] !== undefined || headers?.["if-modified-since"] !== undefined);

/** Whether v4 only rejected the member that the gateway had added. If so, nothing was created. */
function rejectsAddedMember(
  response: UpstreamResponse,
  prepared: PreparedRequest,
  member: string,
  { upstream }: ErrorFormats,
): boolean {
  const errors =
    response.status === 400 && prepared.gatewayFields.has(member)
      ? upstream.read(response.json)?.details
      : undefined;
  return errors !== undefined && errors.every(({ field }) => field === member);
}

/**
 * Repeats a call. Only a GET is ever repeated, except after two unambiguous errors: this one, and an error about a
 * token (upstream-call.ts).
 */
async function callWithRetry(
  prepared: PreparedRequest,
  { upstream, services, match }: AuthorizedRequest,
): Promise<UpstreamResponse> {
  const response = await upstream.call(prepared);
  const retryWithout = match.route.retry?.without;
  if (
    retryWithout === undefined ||
    !rejectsAddedMember(response, prepared, retryWithout, errorsOf(match.route, services.pack))
  )
    return response;
  const { [retryWithout]: _rejected, ...body } = isObject(prepared.body) ? prepared.body : {};
  return upstream.call({ ...prepared, body });
}
