/** The client's response while an operation of v4 is in progress. */
import {
  failureAsValue,
  GATEWAY_TIMEOUT,
  HttpError,
  type RouteCall,
  type Scope,
  TranslatedError,
} from "../../../pack/index.ts";
import { isObject, printJson } from "../../../base/index.ts";
import { ExpressionError, type MaybePromise } from "../../../jsonata/index.ts";
import type { AuthorizedRequest } from "../authorized-request.ts";
import { warnOnce } from "./repeat-call.ts";

/** Throws the error of an operation in progress: the client must not repeat the request. @throws {HttpError} always */
export function throwUnfinished({ unfinished }: RouteCall, authorized: AuthorizedRequest): never {
  warnOnce(authorized, "the operation is still in progress");
  if (unfinished && "error" in unfinished)
    throw new TranslatedError(unfinished.error.status, unfinished.error.reason);
  throw new HttpError(
    GATEWAY_TIMEOUT,
    "The request was accepted and is still in progress. Do not send it again.",
  );
}

/**
 * The client's object while an operation is in progress.
 *
 * @throws {HttpError} where the pack has none
 */
export async function unfinishedBody(
  call: RouteCall,
  scope: Scope,
  authorized: AuthorizedRequest,
): Promise<string> {
  const { unfinished } = call;
  if (!unfinished || "error" in unfinished) return throwUnfinished(call, authorized);
  warnOnce(authorized, "the operation is still in progress");
  authorized.report.successStatus = unfinished.status;
  return printOwnObject(unfinished.body, scope, authorized);
}

/** The client's object that an expression gives in place of a response; without members if it gives none, or fails. */
export async function printOwnObject(
  objectOf: (scope: Scope) => MaybePromise<unknown>,
  scope: Scope,
  authorized: AuthorizedRequest,
): Promise<string> {
  const object = await failureAsValue(() => objectOf(scope));
  const hasFailed = object instanceof ExpressionError;
  if (hasFailed) warnOnce(authorized, object.message);
  return printJson(!hasFailed && isObject(object) ? object : {});
}
