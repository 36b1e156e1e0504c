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
import type { MaybePromise } from "../../jsonata/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import { earlyScope } from "../calls/request-scope.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";
import { type CallOutcome, throwUnfinished } from "./repeat-call.ts";
import { ignoredFailure, isAboutValue, runCall, throwFailure, warnAbout } from "./run-call.ts";

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

/** Whether a call is useless, because the body is invalid anyway. */
const isUseless = ({ notFoundField }: RouteCall, bodyErrors: readonly ErrorDetail[]): boolean =>
  notFoundField === undefined
    ? bodyErrors.length > 0
    : bodyErrors.some(({ field }) => field === notFoundField);

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

/** The calls before the main call, and what they have found so far. */
class EarlierCalls {
  readonly #checked: CheckedBody;
  readonly #authorized: AuthorizedRequest;
  readonly #values: Record<string, unknown> = {};
  readonly #scope: Scope;
  readonly #errors: ErrorDetail[] = [];
  readonly #fetched: Fetched[] = [];
  #version: Version = {};
  /** Whether the body has errors that need no call. Undefined until a call that writes needs to know it. */
  #hasFaults: boolean | undefined;

  constructor(checked: CheckedBody, authorized: AuthorizedRequest) {
    this.#checked = checked;
    this.#authorized = authorized;
    this.#scope = earlyScope(authorized, checked.body, this.#values);
  }

  get results(): EarlyResults {
    return {
      values: this.#values,
      version: this.#version,
      errors: this.#errors,
      hasErrors: this.#hasErrors(),
      check: (translated) => this.#checkLate(translated),
    };
  }

  #hasErrors(): boolean {
    const found = this.#checked.errors.length + this.#errors.length;
    return found > 0 || this.#fetched.some(({ errors }) => errors.length > 0);
  }

  async shouldSend(call: RouteCall): Promise<boolean> {
    // A value of its path was not sent, or not found.
    if (!call.needs.every((name) => Object.hasOwn(this.#values, name))) return false;
    if (isUseless(call, this.#checked.errors)) return false;
    return call.endpoint.method === "GET" || this.#mayWrite();
  }

  /** After an error, no call that writes is sent. The remaining calls may find further errors. */
  async #mayWrite(): Promise<boolean> {
    if (this.#hasErrors()) return false;
    this.#hasFaults ??= (await this.#checked.findFaults()).length > 0;
    return !this.#hasFaults;
  }

  /** @throws {HttpError} if the request can't go on without its value */
  async send(call: RouteCall): Promise<void> {
    const { body } = this.#checked;
    const { match, request } = this.#authorized;
    const values = { ...body, ...match.parameters, ...this.#values };
    const outcome = await runCall(call, { input: body, scope: this.#scope, values }, this.#authorized);
    if (!outcome) return;
    const isVersion = call.member !== undefined && call.member === match.route.ifMatch;
    if ("value" in outcome) return this.#useValue(call, outcome, isVersion);
    const { notFoundField, isOptional, unfinished } = call;
    if ("isUnfinished" in outcome) {
      if (unfinished || isVersion) throwUnfinished(call, this.#authorized);
      return;
    }
    const { response, error } = outcome.failure;
    const isNotFound = response?.status === 404 || error instanceof InvalidPathValueError;
    if (notFoundField !== undefined && isNotFound) return this.#addUnknownRecord(call);
    // A value that the call needs is missing in an invalid body.
    const isInvalid = this.#hasFaults === true || this.#hasErrors();
    if (isInvalid && response === undefined && isAboutValue(error)) return;
    // If v4 denies a call that is only needed for a rule, v4 also decides about the main call.
    const mayFail = isOptional || (notFoundField !== undefined && response !== undefined);
    // The main call must not be sent without the version of its object.
    if (!mayFail || isVersion || request.signal.aborted)
      throwFailure(outcome.failure, call, this.#authorized);
    warnAbout(error, this.#authorized);
  }

  #addUnknownRecord({ failure, notFoundField: field = "" }: RouteCall): void {
    const { unknown_record: reason } = this.#authorized.services.pack.dialect.messages;
    this.#errors.push({ ...failure, field, reason, rule: "unknown_record" });
  }

  async #useValue(
    call: RouteCall,
    { value, response: received }: Extract<CallOutcome, { readonly value: unknown }>,
    isVersion: boolean,
  ): Promise<void> {
    const { route } = this.#authorized.match;
    const response = { headers: {}, ...received, json: value };
    const scope = { ...this.#scope, response };
    // This applies even to a response without a body, because the main call must not be sent without the version.
    if (isVersion) this.#version = versionOf(scope, call.name, route);
    if (value === undefined) return;
    if (call.member !== undefined) this.#values[call.member] = value;
    const errors = await runChecks(call.checks.early, call, scope, this.#authorized);
    this.#fetched.push({ call, response, errors });
  }

  /** Returns the errors of all checks, in the order of the calls. */
  async #checkLate(translated: JsonObject): Promise<readonly ErrorDetail[]> {
    const found = await Promise.all(
      this.#fetched.map(async ({ call, response, errors: early }) => {
        const scope = { ...this.#scope, request: translated, response };
        return [...early, ...(await runChecks(call.checks.late, call, scope, this.#authorized))];
      }),
    );
    return withFailure(found.flat(), this.#authorized.match.route.checkFailure);
  }
}

/**
 * Makes the calls before the main call, one after the other. If v4 denies a call that is only needed for a rule (401,
 * 403), v4 also decides about the main call. A call that is needed for values or the `If-Match` of the main call must
 * succeed.
 *
 * @throws {HttpError} v4's error, of a call that is not optional
 */
export async function callBefore(checked: CheckedBody, authorized: AuthorizedRequest): Promise<EarlyResults> {
  const earlier = new EarlierCalls(checked, authorized);
  for (const call of authorized.match.route.callOrder.before)
    if (await earlier.shouldSend(call)) await earlier.send(call);
  return earlier.results;
}
