import type { ReadContext, Route } from "../../pack/index.ts";
import type { AuthorizedRequest, ResponseKind } from "../request/authorized-request.ts";
import { hasNoScopes } from "../auth/permissions.ts";
import { currentGrants } from "../stages/authorize.ts";
import { buildUpstreamRequest } from "../stages/build-request.ts";
import type { UpstreamResult } from "../stages/call-after.ts";
import { callUpstream } from "../stages/call-upstream.ts";
import type { PreparedRequest } from "../calls/prepared-request.ts";
import { readingOf } from "../calls/request-scope.ts";
import type { UpstreamResponse } from "../calls/upstream-response.ts";
import { applyTokenScopes, beforeTokenCall } from "./token-scopes.ts";
import { translateList, translateObject } from "../calls/translate-response.ts";

type Translate = (response: UpstreamResponse, route: Route, reading: ReadContext) => Promise<string | Buffer>;

/**
 * Selects the route for the token: without scopes, some objects have fewer fields. v4's current response may have shown
 * that the token has none.
 */
async function routeForToken({ match, token, services }: AuthorizedRequest): Promise<Route> {
  const { route } = match;
  if (!route.withoutScopes) return route;
  const grants = await currentGrants(token.resolved, services.tokens);
  return grants !== undefined && hasNoScopes(grants) ? route.withoutScopes : route;
}

/** Creates a function that builds a response by translating v4's response. */
const buildWith =
  (translate: Translate) =>
  async (
    result: UpstreamResult,
    prepared: PreparedRequest,
    authorized: AuthorizedRequest,
  ): Promise<string | Buffer> => {
    if (result.fallback !== undefined) return result.fallback;
    const route = await routeForToken(authorized);
    const body = await translate(result.response, route, readingOf(result, prepared, authorized));
    return route.tokens && !route.tokens.deleted ? applyTokenScopes(body, route.tokens, authorized) : body;
  };

async function callForObject(
  prepared: PreparedRequest,
  authorized: AuthorizedRequest,
): Promise<UpstreamResult> {
  const { tokens } = authorized.match.route;
  if (!tokens) return callUpstream(prepared, authorized);
  const afterCall = await beforeTokenCall(tokens, authorized);
  const result = await callUpstream(prepared, authorized);
  await afterCall();
  return result;
}

/** Routes that respond with an object, or nothing: one v4 call, whose object is translated. */
export const objectKind: ResponseKind<UpstreamResult> = {
  buildRequest: buildUpstreamRequest,
  callUpstream: callForObject,
  buildResponse: buildWith(translateObject),
};

/** Routes that respond with a page of a list: one v4 call, whose rows are translated. */
export const listKind: ResponseKind<UpstreamResult> = {
  buildRequest: buildUpstreamRequest,
  callUpstream,
  buildResponse: buildWith(translateList),
};
