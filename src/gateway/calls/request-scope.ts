/** What the expressions of a pack know of a request. All its stages make their scopes here. */
import type { ReadContext, RoutedRequest, Scope } from "../../pack/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { PreparedRequest } from "./prepared-request.ts";

/** The response of the main call, and the values of calls. Without it only the calls before have values. */
type Received = Pick<Scope, "response" | "calls">;

/** The scope before the main call is built. @param body of the client, in its documented form if that is known */
export const earlyScope = (head: RoutedRequest, body: unknown, calls: Scope["calls"] = {}): Scope => ({
  head,
  body,
  calls,
});

/** The scope of a request that has been built. */
export const scopeOf = (
  { alpha, body, calls = {} }: Pick<PreparedRequest, "alpha" | "body" | "calls">,
  head: RoutedRequest,
  received: Received = { calls },
): Scope => ({ head, body: alpha, request: body, ...received });

/** What the translation of a response may read. */
export const readingOf = (
  received: Received,
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): ReadContext => ({
  ...scopeOf(prepared, authorized, { response: received.response, calls: received.calls }),
  catalogs: authorized.services.catalogs,
  lost: authorized.report.losses,
});
