/** The calls of a route before its main call. Rules, values and the version of the object may depend on them. */
import {
  type ErrorDetail,
  InvalidPathValueError,
  isEntityTag,
  type JsonObject,
  type Route,
  type RouteCall,
  type RunChecks,
  type Scope,
  valueAt,
  withFailure,
} from "../../pack/index.ts";
import { ExpressionError, type MaybePromise } from "../../jsonata/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import { earlyScope } from "../calls/request-scope.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";
import { type CallOutcome, type FailedCall, throwUnfinished } from "./repeat-call.ts";
import { ignoredFailure, runCall, throwFailure, warnAbout } from "./run-call.ts";

/** Values of the calls before the main call, errors of calls that found nothing, and the rules that depend on them. */
interface EarlyResults {
  readonly values: Readonly<Record<string, unknown>>;
  /** The version of the object that the main call changes; empty if there is no `if_match`. */
  readonly version: Version;
  readonly errors: readonly ErrorDetail[];
  /** Whether the request ends with an error, so that none of its calls may write. */
  readonly hasErrors: boolean;
  /** @param request the translated body */
  readonly check: (request: JsonObject) => Promise<readonly ErrorDetail[]>;
}

/** A call with a response, and the errors of its early checks. */
interface Fetched {
  readonly call: RouteCall;
  readonly response: Scope["response"];
  readonly errors: readonly ErrorDetail[];
}

/** The client's body, and the known facts about it before the calls. */
interface CheckedBody {
  readonly body: JsonObject;
  readonly errors: readonly ErrorDetail[];
  /** Returns further errors that don't depend on a call. */
  readonly findFaults: () => MaybePromise<readonly ErrorDetail[]>;
}

/** The version of an object that the main call changes: in the upstream's form, and in the client's. */
type Version = Pick<PreparedRequest, "headers" | "madeTag">;

const isStrong = (tag: string): boolean => isEntityTag(tag) && !tag.startsWith("W/");

/**
 * Returns the version of an object: the upstream's, or the one that the pack creates. Only the upstream's own version
 * is sent to it. If the pack creates one, the upstream's must be strong, because a weak version never matches
 * `If-Match` (RFC 9110, section 13.1.1).
 *
 * @throws {InvalidUpstreamResponseError} if there is no version, because a concurrent change could be overwritten
 */
function versionOf(scope: Scope, name: string, { headers, versionPath }: Route): Version {
  const { headers: received = {}, json } = scope.response ?? {};
  const own = received["etag"];
  const made = headers?.entityTag?.(valueAt(json, versionPath), scope);
  const tag = headers?.entityTag ? made : own;
  if (typeof tag !== "string" || !isEntityTag(tag))
    throw new InvalidUpstreamResponseError(`the response to "${name}" has no ETag for "if_match"`);
  if (!headers?.entityTag) return { headers: { "if-match": tag } };
  const isSent = typeof own === "string" && isStrong(own);
  return { madeTag: tag, ...(isSent && { headers: { "if-match": own } }) };
}

/** Whether a field of the body contains the id of an object that does not exist in v4. */
const isNotFound = (outcome: CallOutcome, { notFoundField }: RouteCall): boolean =>
  notFoundField !== undefined &&
  "failure" in outcome &&
  (outcome.failure.response?.status === 404 || outcome.failure.error instanceof InvalidPathValueError);

/** Whether a call is useless, because the body is invalid anyway. */
const isUseless = ({ notFoundField }: RouteCall, bodyErrors: readonly ErrorDetail[]): boolean =>
  notFoundField === undefined
    ? bodyErrors.length > 0
    : bodyErrors.some(({ field }) => field === notFoundField);

/** Whether a call has failed because a value in its path or body is missing. */
const lacksValue = ({ response, error }: FailedCall): boolean =>
  response === undefined && (error instanceof InvalidPathValueError || error instanceof ExpressionError);

/** Runs the checks of a call. If a check of an optional call fails on a value, this is not an error. */
async function runChecks(
  run: RunChecks,
  call: RouteCall,
  scope: Scope,
  authorized: AuthorizedRequest,
): Promise<readonly ErrorDetail[]> {
  const errors = await run(scope);
  const ignored = ignoredFailure(errors, call);
  if (!ignored) return errors;
  warnAbout(ignored, authorized);
  return [];
}

/**
 * Makes the calls before the main call. If v4 denies a call that is only needed for a rule (401, 403), v4 also decides
 * about the main call. A call that is needed for values or the `If-Match` of the main call must succeed. After an
 * error, no call that writes is sent. The remaining calls may find further errors.
 *
 * @throws {HttpError} v4's error, of a call that is not optional
 */
export async function callBefore(
  { body, errors: bodyErrors, findFaults }: CheckedBody,
  authorized: AuthorizedRequest,
): Promise<EarlyResults> {
  const { match, request, services } = authorized;
  const { route } = match;
  const { unknown_record: reason } = services.pack.dialect.messages;
  const values: Record<string, unknown> = {};
  const errors: ErrorDetail[] = [];
  const fetched: Fetched[] = [];
  const scope = earlyScope(authorized, body, values);
  let version: Version = {};
  let hasFaults: boolean | undefined;
  const hasErrors = (): boolean =>
    bodyErrors.length + errors.length > 0 || fetched.some((each) => each.errors.length > 0);
  async function mayWrite(): Promise<boolean> {
    if (hasErrors()) return false;
    hasFaults ??= (await findFaults()).length > 0;
    return !hasFaults;
  }
  for (const call of route.callOrder.before) {
    const { member, notFoundField: field, failure } = call;
    // A value of its path was not sent, or not found.
    if (!call.needs.every((name) => Object.hasOwn(values, name))) continue;
    if (isUseless(call, bodyErrors)) continue;
    if (call.endpoint.method !== "GET" && !(await mayWrite())) continue;
    const known = { ...body, ...match.parameters, ...values };
    const outcome = await runCall(call, { input: body, scope, values: known }, authorized);
    if (!outcome) continue;
    if (isNotFound(outcome, call)) {
      errors.push({ ...failure, field: field ?? "", reason, rule: "unknown_record" });
      continue;
    }
    const isVersion = member !== undefined && member === route.ifMatch;
    if ("isUnfinished" in outcome) {
      if (call.unfinished || isVersion) throwUnfinished(call, authorized);
      continue;
    }
    if ("failure" in outcome) {
      if (lacksValue(outcome.failure) && (hasFaults || hasErrors())) continue;
      const { error, response: refusal } = outcome.failure;
      const mayFail = call.isOptional || (field !== undefined && refusal !== undefined);
      if (isVersion || !mayFail || request.signal.aborted) throwFailure(outcome.failure, call, authorized);
      warnAbout(error, authorized);
      continue;
    }
    const { value } = outcome;
    const response = { headers: {}, ...outcome.response, json: value };
    // This applies even to a response without a body, because the main call must not be sent without the version.
    if (isVersion) version = versionOf({ ...scope, response }, member, route);
    if (value === undefined) continue;
    if (member !== undefined) values[member] = value;
    const found = await runChecks(call.checks.early, call, { ...scope, response }, authorized);
    fetched.push({ call, response, errors: found });
  }
  return {
    values,
    version,
    errors,
    hasErrors: hasErrors(),
    async check(translated) {
      const found = await Promise.all(
        fetched.map(async ({ call, response, errors: early }) => {
          const checked = { ...scope, request: translated, response };
          return [...early, ...(await runChecks(call.checks.late, call, checked, authorized))];
        }),
      );
      return withFailure(found.flat(), route.checkFailure);
    },
  };
}
