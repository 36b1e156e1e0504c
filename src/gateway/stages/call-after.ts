/** The calls of a route after its main call. They provide parts of the response, or have further effects. */
import {
  failureAsValue,
  relatedLoss,
  responseLoss,
  type Route,
  type RouteCall,
  type Scope,
  ValidationError,
  valueAt,
  withFailure,
} from "../../pack/index.ts";
import { isObject, printJson } from "../../base/index.ts";
import { ExpressionError } from "../../jsonata/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import { warnOfWrites } from "../calls/instrument-call.ts";
import { scopeOf } from "../calls/request-scope.ts";
import { InvalidUpstreamResponseError, type UpstreamResponse } from "../calls/upstream-response.ts";
import {
  type CallOutcome,
  type FailedCall,
  printOwnObject,
  unfinishedBody,
  warnOnce,
} from "./repeat-call.ts";
import { ignoredFailure, isAboutValue, runCall, throwFailure, warnAbout } from "./run-call.ts";

/** v4's successful response, and the values of calls that alpha's response also needs. */
export interface UpstreamResult {
  readonly response: UpstreamResponse;
  /** The values of calls by name. Failed calls are missing. */
  readonly calls: Readonly<Record<string, unknown>>;
  /** Alpha's body, if a call after the main call failed, or if nothing is translated. */
  readonly fallback?: string;
}

/** The values of a body for each call. One call is sent for each value. */
type EachValues = ReadonlyMap<RouteCall, readonly unknown[]>;

/** Maximum number of calls for the values of one body. */
const MOST_EACH_VALUES = 100;

/** Reads the values for which calls are sent. @throws {HttpError} 400 if there are too many, before anything is written */
export async function readEachValues(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<EachValues> {
  const { calls, errorField } = authorized.match.route;
  const eachValues = new Map<RouteCall, readonly unknown[]>();
  const scope = scopeOf({ ...prepared, body: prepared.body ?? {} }, authorized);
  for (const call of calls) {
    if (!call.eachValue || !call.knowsEach) continue;
    const { eachValue } = call;
    const found = await failureAsValue(() => eachValue(undefined, scope));
    // The call fails again with this error when it is sent.
    if (found instanceof ExpressionError && call.isOptional) continue;
    if (found instanceof ExpressionError) throw found;
    const values = [found ?? []].flat();
    if (new Set(values).size > MOST_EACH_VALUES) {
      const field = call.eachMember === undefined ? undefined : errorField(call.eachMember);
      const reason = `Must be at most ${MOST_EACH_VALUES} different values.`;
      throw new ValidationError([{ reason, rule: "maxItems", ...(field !== undefined && { field }) }]);
    }
    eachValues.set(call, values);
  }
  return eachValues;
}

/** Returns v4's object in a response, or its list. */
const objectIn = ({ json }: UpstreamResponse, { response, upstreamPath }: Route): unknown =>
  response === "list" ? json : valueAt(json, upstreamPath);

type OutcomeWithValue = Extract<CallOutcome, { readonly value: unknown }>;
type OutcomeWithoutValue = Exclude<CallOutcome, OutcomeWithValue>;

/** The calls after the main call, and the current state of the response. */
class LaterCalls {
  readonly #prepared: PreparedRequest;
  readonly #eachValues: EachValues;
  readonly #authorized: AuthorizedRequest;
  readonly #mainStatus: number;
  #response: UpstreamResponse;
  #values: Record<string, unknown>;
  #scope: Scope;
  /** The client's object that replaces the response of a failed call. */
  #fallback: string | undefined;

  constructor(
    response: UpstreamResponse,
    prepared: PreparedRequest,
    eachValues: EachValues,
    authorized: AuthorizedRequest,
  ) {
    this.#prepared = prepared;
    this.#eachValues = eachValues;
    this.#authorized = authorized;
    this.#mainStatus = response.status;
    this.#response = response;
    this.#values = { ...prepared.calls };
    this.#scope = scopeOf(prepared, authorized, { response, calls: this.#values });
  }

  get result(): UpstreamResult {
    const found = { response: this.#response, calls: this.#values };
    return this.#fallback === undefined ? found : { ...found, fallback: this.#fallback };
  }

  async #outcomeOf(call: RouteCall): Promise<CallOutcome | undefined> {
    if (call.status !== undefined && call.status !== this.#mainStatus) return undefined;
    const input = objectIn(this.#response, this.#authorized.match.route);
    const scope = this.#scope;
    const values = { ...this.#prepared.values, ...this.#values };
    const each = this.#eachValues.get(call);
    return runCall(call, { input, scope, values, each }, this.#authorized);
  }

  /** Sends the calls of a group concurrently. @returns the result, if an operation in progress ends the request */
  async send(group: readonly RouteCall[]): Promise<UpstreamResult | undefined> {
    const outcomes = await Promise.all(group.map(async (call) => this.#outcomeOf(call)));
    for (const [index, call] of group.entries()) {
      const outcome = outcomes[index];
      const ended = outcome && (await this.#use(call, outcome));
      if (ended) return ended;
    }
    return undefined;
  }

  /**
   * Uses the outcome of a call. The main call was successful, so without the value of this one, the known values form
   * the response, if the pack defines it (T-1.3).
   */
  async #use(call: RouteCall, outcome: CallOutcome): Promise<UpstreamResult | undefined> {
    const missing = "value" in outcome ? await this.#useValue(call, outcome) : outcome;
    if (!missing) return undefined;
    const { answerOf, isOptional, unfinished, fallback, repeats } = call;
    if ("isUnfinished" in missing) {
      if (answerOf !== undefined || unfinished || !isOptional) return this.#endUnfinished(call);
      return this.#skip(call);
    }
    const { failure } = missing;
    const { response, error } = failure;
    // A failed operation is the failure of the main call. One that v4 does not name is still in progress.
    if (repeats && answerOf !== undefined && (response !== undefined || error !== undefined)) {
      const isUnnamed = isAboutValue(error) || error instanceof InvalidUpstreamResponseError;
      if (response === undefined && isUnnamed) return this.#endUnfinished(call, error);
      return throwFailure(failure, call, this.#authorized);
    }
    if (fallback) return this.#useFallback(fallback, failure);
    if (isOptional) return this.#skip(call, error);
    warnOfWrites(this.#authorized.upstream.activity);
    return throwFailure(failure, call, this.#authorized);
  }

  #skip({ name }: RouteCall, error?: unknown): undefined {
    const { report, services } = this.#authorized;
    warnAbout(error, this.#authorized);
    report.losses.add(relatedLoss(name, services.pack.dialect.upstream.name));
  }

  /**
   * Puts the client's object in place of the response. An error of the client has its cause in the record. The later
   * calls are still sent, because they may write.
   */
  async #useFallback(fallback: NonNullable<RouteCall["fallback"]>, failure: FailedCall): Promise<undefined> {
    const { report, services } = this.#authorized;
    report.losses.add(responseLoss(services.pack.dialect.upstream.name));
    warnAbout(failure.error, this.#authorized);
    this.#fallback = await printOwnObject(
      (scope) => fallback(scope, failure.response),
      this.#scope,
      this.#authorized,
    );
  }

  /** Uses the value of a call. @returns the failure of an optional check, or of the answer that is made of the value */
  async #useValue(call: RouteCall, outcome: OutcomeWithValue): Promise<OutcomeWithoutValue | undefined> {
    const { value, response } = outcome;
    if (value === undefined && call.isOptional && call.answerOf === undefined) return { failure: {} };
    const cause = await this.#check(call, outcome);
    if (cause) return { failure: { error: cause } };
    if (call.member !== undefined && value !== undefined) this.#values[call.member] = value;
    if (call.answerOf === undefined) return undefined;
    const whole = { ...this.#response, ...response, json: value };
    const answer = await failureAsValue(() => this.#answerOf(call, whole));
    if (answer instanceof ExpressionError) return { failure: { error: answer } };
    // Only an object can be read as an object. For any other value, the call is treated as failed.
    if (call.fallback && !isObject(answer.json)) return { failure: {} };
    this.#response = answer;
    this.#fallback = undefined;
    this.#scope = { ...this.#scope, response: answer };
    return undefined;
  }

  /** Returns the response of the main call, with the headers of both responses. */
  async #answerOf({ answerOf }: RouteCall, last: UpstreamResponse): Promise<UpstreamResponse> {
    const headers = { ...this.#response.headers, ...last.headers };
    const { status, bytes, json } = last;
    const whole = { status, success: true, headers, bytes, json };
    if (typeof answerOf !== "function") return whole;
    const part = await answerOf(last, this.#scope);
    return { ...whole, bytes: Buffer.from(part === undefined ? "" : printJson(part)), json: part };
  }

  /** Throws the errors of the call's checks. Returns the failure of a check, if the request continues without the call. */
  async #check(call: RouteCall, { value, response }: OutcomeWithValue): Promise<Error | undefined> {
    const received = { headers: {}, ...response, json: value };
    const errors = await call.checks.all({ ...this.#scope, response: received });
    const ignored = ignoredFailure(errors, call);
    if (ignored || errors.length === 0) return ignored;
    warnOfWrites(this.#authorized.upstream.activity);
    throw new ValidationError([...withFailure(errors, this.#authorized.match.route.checkFailure)]);
  }

  /** Ends the request while an operation is in progress. @param error why its state is unknown */
  async #endUnfinished(call: RouteCall, error?: unknown): Promise<UpstreamResult> {
    if (error instanceof Error) warnOnce(this.#authorized, error.message);
    const body = await unfinishedBody(call, this.#scope, this.#authorized);
    return { response: this.#response, calls: {}, fallback: body };
  }
}

/**
 * Makes the calls after the main call.
 *
 * @param response v4's successful response
 * @throws {HttpError} the error of a call that is not optional, translated
 */
export async function callAfter(
  response: UpstreamResponse,
  prepared: PreparedRequest,
  eachValues: EachValues,
  authorized: AuthorizedRequest,
): Promise<UpstreamResult> {
  const later = new LaterCalls(response, prepared, eachValues, authorized);
  for (const group of authorized.match.route.callOrder.after) {
    const ended = await later.send(group);
    if (ended) return ended;
  }
  return later.result;
}
