/** The calls of a route before its main call: rules, values and the version of the object may depend on them. */
import {
  type ErrorDetail,
  InvalidPathValueError,
  isEntityTag,
  type JsonObject,
  type Route,
  type RouteCall,
  type Scope,
  valueAt,
  withFailure,
} from "../../../pack/index.ts";
import type { AuthorizedRequest } from "../authorized-request.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import { earlyScope } from "../calls/request-scope.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";
import { throwUnfinished } from "./call-unfinished.ts";
import type { CallOutcome } from "./call-outcome.ts";
import { runCall, throwFailure, warnAbout } from "./run-call.ts";

/** Values of the calls before the main call, errors of those that found nothing, and the rules that depend on them. */
interface EarlyResults {
  readonly values: Readonly<Record<string, unknown>>;
  /** Headers of the main call. */
  readonly headers: PreparedRequest["headers"];
  readonly errors: readonly ErrorDetail[];
  /** @param request the translated body */
  readonly check: (request: JsonObject) => Promise<readonly ErrorDetail[]>;
}

/** What a call that has responded is checked with. */
interface Fetched {
  readonly call: RouteCall;
  readonly response: Scope["response"];
}

/**
 * The version of an object: the upstream's, or the one that the pack makes of it.
 *
 * @throws {InvalidUpstreamResponseError} Without it another change could be overwritten.
 */
function entityTagOf(scope: Scope, name: string, { headers, versionPath }: Route): string {
  const { headers: received = {}, json } = scope.response ?? {};
  const tag = headers?.entityTag ? headers.entityTag(valueAt(json, versionPath), scope) : received["etag"];
  if (typeof tag === "string" && isEntityTag(tag)) return tag;
  throw new InvalidUpstreamResponseError(`the response to "${name}" has no ETag for "if_match"`);
}

/** Whether v4 does not have what a field of the body names. */
const isNotFound = (outcome: CallOutcome, { notFoundField }: RouteCall): boolean =>
  notFoundField !== undefined &&
  "failure" in outcome &&
  (outcome.failure.response?.status === 404 || outcome.failure.error instanceof InvalidPathValueError);

/** Whether a call can't tell anything that is not known: the body is invalid. */
const isUseless = ({ notFoundField }: RouteCall, bodyErrors: readonly ErrorDetail[]): boolean =>
  notFoundField === undefined
    ? bodyErrors.length > 0
    : bodyErrors.some(({ field }) => field === notFoundField);

/**
 * Makes the calls before the main call. Where v4 denies a call that only a rule needs (401, 403), v4 decides the main call
 * itself. A call that values or the `If-Match` of the main call need must succeed.
 *
 * @throws {HttpError} v4's error, of a call that is not optional
 */
export async function callBefore(
  body: JsonObject,
  bodyErrors: readonly ErrorDetail[],
  authorized: AuthorizedRequest,
): Promise<EarlyResults> {
  const { match, request, services } = authorized;
  const { route } = match;
  const { unknown_record: reason } = services.pack.dialect.messages;
  const values: Record<string, unknown> = {};
  const errors: ErrorDetail[] = [];
  const fetched: Fetched[] = [];
  const scope = earlyScope(authorized, body, values);
  let headers: PreparedRequest["headers"];
  for (const call of route.callOrder.before) {
    const { member, notFoundField: field, failure } = call;
    // What its path needs was not sent, or not found.
    if (!call.needs.every((name) => Object.hasOwn(values, name))) continue;
    if (isUseless(call, bodyErrors)) continue;
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
      const { error, response: refusal } = outcome.failure;
      const mayFail = call.isOptional || (field !== undefined && refusal !== undefined);
      if (isVersion || !mayFail || request.signal.aborted) throwFailure(outcome.failure, call, authorized);
      warnAbout(error, authorized);
      continue;
    }
    const { value } = outcome;
    const response = { headers: {}, ...outcome.response, json: value };
    // Also of a response without a body: the main call must not be sent without it.
    if (isVersion) headers = { "if-match": entityTagOf({ ...scope, response }, member, route) };
    if (value === undefined) continue;
    if (member !== undefined) values[member] = value;
    fetched.push({ call, response });
  }
  return {
    values,
    headers,
    errors,
    async check(translated) {
      const found = await Promise.all(
        fetched.map(async ({ call, response }) => {
          const errors = await call.check({ ...scope, request: translated, response });
          const { cause } = errors.find((error) => error.cause) ?? {};
          if (!cause || !call.isOptional) return errors;
          warnAbout(cause, authorized);
          return [];
        }),
      );
      return withFailure(found.flat(), route.checkFailure);
    },
  };
}
