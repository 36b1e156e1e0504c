/** What a request does about a call that has no value: the rules for the calls before and after its main call. */
import { InvalidPathValueError, type RouteCall } from "../../pack/index.ts";
import { ExpressionError } from "../../jsonata/index.ts";
import { InvalidUpstreamResponseError } from "../calls/upstream-response.ts";
import type { CallOutcome, FailedCall } from "./repeat-call.ts";

/** The outcome of a call without a value. */
export type OutcomeWithoutValue = Exclude<CallOutcome, { readonly value: unknown }>;

/** The request goes on without the call. */
interface Skip {
  readonly kind: "skip";
  /** For the record: no response shows it. */
  readonly error?: unknown;
}

/** The request ends, because the operation of the call is still in progress. */
interface Unfinished {
  readonly kind: "unfinished";
}

/** The request ends with the failure of the call. */
interface Throw {
  readonly kind: "throw";
  readonly failure: FailedCall;
}

/** The request about a call before the main call. */
interface RequestState {
  /** Whether the main call needs the call, because it must not be sent without the version of its object. */
  readonly isVersion: boolean;
  /** Whether the request ends with an error of its body anyway. */
  readonly isInvalid: boolean;
  /** Whether the client has disconnected. */
  readonly isAborted: boolean;
}

/** @returns `not found` if a field of the body contains the id of an object that does not exist in v4 */
export function decideBefore(
  call: RouteCall,
  outcome: OutcomeWithoutValue,
  { isVersion, isInvalid, isAborted }: RequestState,
): Skip | Unfinished | Throw | { readonly kind: "not found" } {
  const { notFoundField, isOptional, unfinished } = call;
  if ("isUnfinished" in outcome) return { kind: unfinished || isVersion ? "unfinished" : "skip" };
  const { failure } = outcome;
  const { response, error } = failure;
  const isNotFound = response?.status === 404 || error instanceof InvalidPathValueError;
  if (notFoundField !== undefined && isNotFound) return { kind: "not found" };
  // A value that the call needs is missing in an invalid body.
  if (isInvalid && response === undefined && isAboutValue(error)) return { kind: "skip" };
  // If v4 denies a call that is only needed for a rule, v4 also decides about the main call.
  const mayFail = isOptional || (notFoundField !== undefined && response !== undefined);
  return mayFail && !isVersion && !isAborted ? { kind: "skip", error } : { kind: "throw", failure };
}

/** The response is the pack's own object, with the failure of the call as an input. */
export interface Fallback {
  readonly kind: "fallback";
  readonly fallback: NonNullable<RouteCall["fallback"]>;
  readonly failure: FailedCall;
}

/** Whether a call waits for an operation whose result is the response. */
export const isOperation = ({ repeats, answerOf }: RouteCall): boolean =>
  repeats !== undefined && answerOf !== undefined;

/** The main call was successful, so the known values form the response, if the pack defines it (T-1.3). */
export function decideAfter(
  call: RouteCall,
  outcome: OutcomeWithoutValue,
): Skip | (Unfinished & Pick<Skip, "error">) | Throw | Fallback {
  const { answerOf, isOptional, unfinished, fallback } = call;
  if ("isUnfinished" in outcome)
    return { kind: answerOf !== undefined || unfinished || !isOptional ? "unfinished" : "skip" };
  const { failure } = outcome;
  const { response, error } = failure;
  // A failed operation is the failure of the main call. One that v4 does not name is still in progress.
  if (isOperation(call) && (response !== undefined || error !== undefined)) {
    const isUnnamed =
      response === undefined && (isAboutValue(error) || error instanceof InvalidUpstreamResponseError);
    return isUnnamed ? { kind: "unfinished", error } : { kind: "throw", failure };
  }
  if (fallback) return { kind: "fallback", fallback, failure };
  return isOptional ? { kind: "skip", error } : { kind: "throw", failure };
}

/** Whether a call was not sent, because a value that it needs is missing or an expression of it fails. */
const isAboutValue = (error: unknown): boolean =>
  error instanceof InvalidPathValueError || error instanceof ExpressionError;
