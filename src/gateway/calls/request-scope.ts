/** The variables that expressions of a pack can read. All stages use these functions to create their scopes. */
import type { ReadContext, RoutedRequest, Scope, WriteContext } from "../../pack/index.ts";
import type { AuthorizedRequest } from "../request/authorized-request.ts";
import type { PreparedRequest } from "./prepared-request.ts";

/** The response of the main call, and the values of calls. Before the main call, only earlier calls have values. */
type Received = Pick<Scope, "response" | "calls">;

/** The scope before the main call is built. @param body the client's body, in its documented form if it was already checked */
export const earlyScope = (head: RoutedRequest, body: unknown, calls: Scope["calls"] = {}): Scope => ({
  head,
  body,
  calls,
});

/** Returns the scope of a request that has been built. */
export const scopeOf = (
  { alpha, body, calls = {} }: Pick<PreparedRequest, "alpha" | "body" | "calls">,
  head: RoutedRequest,
  received: Received = { calls },
): Scope => ({ head, body: alpha, request: body, ...received });

/** Returns the variables for the translation of a response. */
export const readingOf = (
  received: Received,
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): ReadContext => ({
  ...scopeOf(prepared, authorized, { response: received.response, calls: received.calls }),
  catalogs: authorized.services.catalogs,
  lost: authorized.report.losses,
});

/** The variables for the translation of a body, or of a value of the request. */
export const writingOf = (authorized: AuthorizedRequest, body: unknown): WriteContext => ({
  ...earlyScope(authorized, body),
  catalogs: authorized.services.catalogs,
  path: authorized.match.parameters,
  client: authorized.request.address,
});
